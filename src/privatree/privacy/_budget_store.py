"""A privacy budget in a SQLite file, for several models, processes and months."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

from privatree._support.validation import check_one_of
from privatree.errors import ParameterError
from privatree.privacy._budget import (
    NEIGHBOURS,
    Charge,
    budget_text,
    check_budget_covers,
    check_budget_unit,
    check_charge_neighbours,
    check_charge_unit,
)
from privatree.privacy._budget_file import (
    Account,
    add_charge_to_budget_file,
    create_budget_file,
    open_budget_file,
    read_budget_account,
)
from privatree.privacy._exact_epsilon import decimal_fraction

_MAX_EPSILON = 10**9
_MAX_DIGITS = 400
"""Largest number of digits of a denominator. Every float, written as a decimal, has fewer."""


class BudgetStore:
    """Upper limit, in a SQLite file, on the total epsilon of all models of the same records.

    ``BudgetStore.create(path, epsilon)`` makes the file, once for each set of records;
    ``BudgetStore(path)`` opens it. Like a :class:`Budget`, it is charged before noise is drawn.
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

    A float stands for the decimal number that Python prints, as for :class:`Budget`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> budget = BudgetStore.create(f"{folder.name}/patients.db", 1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> float(BudgetStore(f"{folder.name}/patients.db").remaining)
    0.75
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
        amount = _epsilon_for_budget_store(epsilon)
        check_one_of("neighbours", neighbours, NEIGHBOURS)
        check_budget_unit(unit)
        whole_path = Path(os.path.realpath(path))
        create_budget_file(whole_path, budget_text(dataset), amount, neighbours, unit)
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

    def charge(
        self,
        epsilon: float | Fraction,
        *,
        purpose: str,
        neighbours: str = "add-remove",
        unit: str | None = None,
        later: Fraction = Fraction(0),
    ) -> None:
        """Take `epsilon` from the budget. Call this before any noise is drawn.

        `unit` is the name of what epsilon protects as a whole, None for single records. `later` is
        the epsilon of a second charge that will follow. It must be left in the budget, too, but it
        is neither taken nor reserved: if another process takes it first, the second charge fails.

        Raises
        ------
        BudgetExceededError
            If less than ``epsilon + later`` is left. Then nothing is taken.
        BudgetStoreError
            If the file cannot be used. Then nothing may be drawn, although the charge may have been
            written, for instance if the disk failed meanwhile.
        ParameterError
            If the neighbours or the unit of the charge are not those of the budget.
        """
        amount = _epsilon_for_budget_store(epsilon)
        # One transaction: no other process can charge between the check and the charge.
        with open_budget_file(self.path, writing=True) as connection:
            account = read_budget_account(self.path, connection)
            check_charge_neighbours(account.neighbours, neighbours)
            check_charge_unit(account.unit, unit)
            check_budget_covers(amount, account.remaining, purpose, later)
            add_charge_to_budget_file(connection, account, amount, budget_text(purpose), self.note)

    def __repr__(self) -> str:
        return f"BudgetStore({str(self.path)!r})"


def _epsilon_for_budget_store(epsilon: float | Fraction) -> Fraction:
    amount = decimal_fraction("epsilon", epsilon)
    if amount > _MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {_MAX_EPSILON:g}: more gives no privacy.", "epsilon"
        )
    if amount.denominator >= 10**_MAX_DIGITS:
        raise ParameterError(
            f"epsilon must be a fraction whose denominator has at most {_MAX_DIGITS} digits. "
            "Round it.",
            "epsilon",
        )
    return amount
