import pytest

from privatree.privacy import Budget, BudgetStore


@pytest.fixture(params=["memory", "file"])
def account(request, tmp_path):
    """Makes a budget of either kind."""

    def make(epsilon, **settings):
        if request.param == "memory":
            return Budget(epsilon, **settings)
        return BudgetStore.create(tmp_path / "budget.db", epsilon, **settings)

    return make
