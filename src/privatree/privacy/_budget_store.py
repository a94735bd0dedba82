"""A budget in a file, which several models, processes and months draw from."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

from privatree.errors import ParameterError
from privatree.privacy import _budget_file as budget_file
from privatree.privacy._budget import (
    Charge,
    check_covered,
    check_same_neighbours,
    checked_neighbours,
)
from privatree.privacy._budget_file import Account, one_line
from privatree.privacy._exact_epsilon import decimal_fraction

_MAX_EPSILON = 10**9
_MAX_DIGITS = 400
"""More than any float has as a decimal."""


class BudgetStore:
    """What may be spent on one set of records in all, in a SQLite file.

    ``BudgetStore.create(path, epsilon)`` makes the file, once for each set of records;
    ``BudgetStore(path)`` opens it. Like a :class:`Budget` it is charged before anything is drawn.
    A charge is on disk when :meth:`charge` returns, and stays there whatever happens to the model.
    Processes and threads that charge at the same time wait for each other, so together they spend
    no more than alone.

    Parameters
    ----------
    path : path
        A file that :meth:`create` made.
    note : str, default=""
        Kept with each charge that is made through this object, to tell models apart: a file name,
        for instance. Nothing about records.

    Attributes
    ----------
    path : Path
        The file, in full.
    note : str
        As given, in one line.

    Raises
    ------
    BudgetStoreError
        If the file is missing, damaged or something else, here and whenever it is read.

    Notes
    -----
    The object holds no connection and no balance: every look and every charge opens the file. So
    copies, pickles and forks of it are the same account. A *copy of the file* is a second one.

    The file must be on a disk of this machine: file systems over a network may not keep processes
    apart. It protects from accidents, not from somebody who may write the file.

    A float is the decimal that it is written as, as for :class:`Budget`.

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
        self.path = _whole(path)
        self.note = one_line(note)
        self.read()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: float | Fraction,
        *,
        neighbours: str = "add-remove",
        dataset: str = "",
    ) -> BudgetStore:
        """Make the file of a set of records, and open it.

        Parameters
        ----------
        path : path
            Where. A file that is there is never overwritten.
        epsilon : float or Fraction
            The largest total. It cannot be changed later.
        neighbours : {"add-remove", "replace"}, default="add-remove"
            Between which tables it holds.
        dataset : str, default=""
            What the records are called.

        Returns
        -------
        BudgetStore
            Of the new file.

        Raises
        ------
        BudgetStoreError
            If there is such a file, or it cannot be written.
        """
        amount = _amount(epsilon)
        budget_file.create(_whole(path), one_line(dataset), amount, checked_neighbours(neighbours))
        return cls(path)

    def read(self) -> Account:
        """Everything in the file at one moment."""
        with budget_file.transaction(self.path, writing=False) as connection:
            return budget_file.read_account(self.path, connection)

    @property
    def dataset(self) -> str:
        """What the records are called."""
        return self.read().dataset

    @property
    def epsilon(self) -> Fraction:
        """The largest total."""
        return self.read().epsilon

    @property
    def neighbours(self) -> str:
        """Between which tables it holds."""
        return self.read().neighbours

    @property
    def charges(self) -> list[Charge]:
        """What was taken so far."""
        return list(self.read().charges)

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.read().remaining

    def charge(
        self, epsilon: float | Fraction, *, purpose: str, neighbours: str = "add-remove"
    ) -> None:
        """Take `epsilon` from the budget, before anything is drawn with it.

        Raises
        ------
        BudgetExceededError
            If less is left. Nothing is taken then.
        BudgetStoreError
            If the file cannot be used. Then the charge may stand (if the disk failed while it was
            written, for instance), but nothing may be drawn.
        ParameterError
            If the charge is for other neighbours than the budget.
        """
        amount = _amount(epsilon)
        # One transaction: between the look at what is left and the charge nobody else charges.
        with budget_file.transaction(self.path, writing=True) as connection:
            account = budget_file.read_account(self.path, connection)
            check_same_neighbours(account.neighbours, neighbours)
            check_covered(amount, account.remaining, purpose)
            budget_file.add_charge(connection, account, amount, one_line(purpose), self.note)

    def __repr__(self) -> str:
        return f"BudgetStore({str(self.path)!r})"


def _amount(epsilon: float | Fraction) -> Fraction:
    amount = decimal_fraction("epsilon", epsilon)
    if amount > _MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {_MAX_EPSILON:g}: that is no privacy.", "epsilon"
        )
    if amount.denominator >= 10**_MAX_DIGITS:
        raise ParameterError(
            f"epsilon must not be a fraction of {_MAX_DIGITS} digits and more.", "epsilon"
        )
    return amount


def _whole(path: str | os.PathLike[str]) -> Path:
    """The same file wherever the process goes, and by which link it was named."""
    return Path(os.path.realpath(path))
