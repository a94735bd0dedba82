"""A privacy budget in a SQLite file, for several models, processes and months."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

from privatree._support.validation import check_one_of
from privatree.errors import ParameterError
from privatree.privacy._budget import NEIGHBOURS, Charge
from privatree.privacy._budget_checks import (
    budget_text,
    check_budget_covers,
    check_budget_unit,
    check_charge_neighbours,
    check_charge_unit,
)
from privatree.privacy._budget_file import (
    create_budget_file,
    open_budget_file,
    read_budget_account,
)
from privatree.privacy._budget_tables import MAX_EPSILON, Account, add_charge_to_budget_file
from privatree.privacy._exact_epsilon import decimal_fraction, delta_fraction

_MAX_DIGITS = 400
"""Largest number of digits of a denominator. Every float, written as a decimal, has fewer."""


class BudgetStore:
    """Upper limit, in a SQLite file, on the total epsilon of all models of the same records.

    ``BudgetStore.create(path, epsilon)`` makes the file, once for each set of records;
    ``BudgetStore(path)`` opens it. There is a limit on the total delta, too, which is 0 by default.
    Like a :class:`Budget`, it is charged before noise is drawn.
    A charge is on disk when :meth:`charge` returns, and stays there whatever happens to the model.
    Processes and threads that charge at the same time wait for each other, so together they cannot
    overspend.

    Parameters
    ----------
    path : path
        File that :meth:`create` made.
    note : str, default=""
        Text that is stored with each charge of this object, to tell models apart; for instance the
        file name of the model. It must not contain anything about records.

    Attributes
    ----------
    path : Path
        Absolute path of the file.

    Raises
    ------
    BudgetStoreError
        If the file is missing or damaged, or if it is another kind of file. Every later access
        reads the file again and can raise the same error.

    Notes
    -----
    The object holds no connection and no balance: every access opens the file. So copies, pickles
    and forks of the object share one budget. A *copy of the file* is a second budget.

    The file must be on a disk of this machine: locks are not reliable on network file systems. The
    file protects from accidents, not from a person who is able to write to it.

    A float stands for the decimal number that Python prints, and epsilons and deltas add up
    separately, as for :class:`Budget`.

    A budget without a delta is a file that older versions of privatree can charge, too. They refuse
    a budget with a delta.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> budget = BudgetStore.create(f"{folder.name}/patients.db", 1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> float(BudgetStore(f"{folder.name}/patients.db").remaining)
    0.75

    A budget with a delta, for models that need one:

    >>> budget = BudgetStore.create(f"{folder.name}/visits.db", 3.0, delta=1e-5)
    >>> budget.charge(1.0, delta=1e-6, purpose="an ensemble")
    >>> float(budget.remaining), float(budget.remaining_delta)
    (2.0, 9e-06)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, note: str = "") -> None:
        self.path = Path(os.path.realpath(path))  # valid in every working directory
        self.note = budget_text(note)
        self.read()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: float | Fraction,
        *,
        delta: float | Fraction = 0,
        neighbours: str = "add-remove",
        unit: str | None = None,
        dataset: str = "",
    ) -> BudgetStore:
        """Create the budget file of a set of records, and open it.

        Parameters
        ----------
        path : path
            File to create. An existing file is never overwritten.
        epsilon : float or Fraction
            Largest total epsilon. It cannot be changed later.
        delta : float or Fraction, default=0
            Largest total delta, as for :class:`Budget`. It cannot be changed later.
        neighbours : {"add-remove", "replace"}, default="add-remove"
            Neighbour relation that every charge must have.
        unit : str, optional
            Name of the unit that every charge must protect, as for :class:`Budget`. By default the
            budget is for single records. It cannot be changed later.
        dataset : str, default=""
            Name of the dataset.

        Raises
        ------
        BudgetStoreError
            If the file exists already, or if it cannot be written.
        """
        amount, exact_delta = _epsilon_for_budget_store(epsilon), _delta_for_budget_store(delta)
        check_one_of("neighbours", neighbours, NEIGHBOURS)
        check_budget_unit(unit)
        whole_path = Path(os.path.realpath(path))
        create_budget_file(whole_path, budget_text(dataset), amount, exact_delta, neighbours, unit)
        return cls(path)

    def read(self) -> Account:
        """Read the limit and all charges, as they are at one moment."""
        with open_budget_file(self.path, writing=False) as connection:
            return read_budget_account(self.path, connection)

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.read().dataset

    @property
    def epsilon(self) -> Fraction:
        """Largest total epsilon."""
        return self.read().epsilon

    @property
    def delta(self) -> Fraction:
        """Largest total delta; 0 if every model must have delta 0."""
        return self.read().delta

    @property
    def neighbours(self) -> str:
        """Neighbour relation that every charge must have."""
        return self.read().neighbours

    @property
    def unit(self) -> str | None:
        """Name of the unit that every charge must protect; None for single records."""
        return self.read().unit

    @property
    def charges(self) -> list[Charge]:
        """Charges so far, oldest first."""
        return list(self.read().charges)

    @property
    def remaining(self) -> Fraction:
        """Epsilon that is left."""
        return self.read().remaining

    @property
    def remaining_delta(self) -> Fraction:
        """Delta that is left."""
        return self.read().remaining_delta

    def charge(
        self,
        epsilon: float | Fraction,
        *,
        delta: float | Fraction = 0,
        purpose: str,
        neighbours: str = "add-remove",
        unit: str | None = None,
        later: Fraction = Fraction(0),
        later_delta: Fraction = Fraction(0),
    ) -> None:
        """Take `epsilon` and `delta` from the budget. Call this before any noise is drawn.

        `unit` is the name of what epsilon protects as a whole, None for single records. `later` and
        `later_delta` are the epsilon and the delta of a second charge that will follow. They must
        be left in the budget, too, but they are neither taken nor reserved: if another process
        takes them first, the second charge fails.

        Raises
        ------
        BudgetExceededError
            If less than ``epsilon + later`` or less than ``delta + later_delta`` is left. Then
            nothing is taken.
        BudgetStoreError
            If the file cannot be used. Then nothing may be drawn, although the charge may have been
            written, for instance if the disk failed meanwhile.
        ParameterError
            If the neighbours or the unit of the charge are not those of the budget.
        """
        amount, exact_delta = _epsilon_for_budget_store(epsilon), _delta_for_budget_store(delta)
        # One transaction: no other process can charge between the check and the charge.
        with open_budget_file(self.path, writing=True) as connection:
            account = read_budget_account(self.path, connection)
            check_charge_neighbours(account.neighbours, neighbours)
            check_charge_unit(account.unit, unit)
            check_budget_covers(account, amount, exact_delta, purpose, later, later_delta)
            add_charge_to_budget_file(
                connection, account, amount, exact_delta, budget_text(purpose), self.note
            )

    def __repr__(self) -> str:
        return f"BudgetStore({str(self.path)!r})"


def _epsilon_for_budget_store(epsilon: float | Fraction) -> Fraction:
    amount = decimal_fraction("epsilon", epsilon)
    if amount > MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {MAX_EPSILON:g}: more gives no privacy.", "epsilon"
        )
    _check_digits_for_budget_store("epsilon", amount)
    return amount


def _delta_for_budget_store(delta: float | Fraction) -> Fraction:
    exact_delta = delta_fraction("delta", delta)
    _check_digits_for_budget_store("delta", exact_delta)
    return exact_delta


def _check_digits_for_budget_store(name: str, amount: Fraction) -> None:
    if amount.denominator >= 10**_MAX_DIGITS:
        raise ParameterError(
            f"{name} must be a fraction whose denominator has at most {_MAX_DIGITS} digits. "
            "Round it.",
            name,
        )
