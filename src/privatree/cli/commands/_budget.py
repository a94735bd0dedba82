"""``privatree budget``: keep a privacy budget for one dataset in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privatree.cli._learner_options import warn_of_large_delta, warn_of_large_epsilon
from privatree.cli._output import print_json, print_text
from privatree.cli._weight_options import UNIT_HELP

if TYPE_CHECKING:
    from privatree.privacy import Account

app = typer.Typer(
    help="Keep a budget file that limits the sum of all epsilons spent on the same records.",
    rich_markup_mode="markdown",
)

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Budget file, made by privatree budget create.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]


@app.command("create")
def create_budget(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="File to make. An existing file is not replaced."),
    ],
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="E",
            help="Sum of epsilon that all models of these records may spend. With or without any "
            "one record, everything that is ever released is at most e^E times as likely. The "
            "sum cannot be changed later.",
        ),
    ],
    delta: Annotated[
        float,
        typer.Option(
            metavar="D",
            help="Sum of delta that all models of these records may spend. Some models promise "
            "epsilon only up to a small probability delta, with which the promise may fail; the "
            "deltas add up, too. With 0 only models without a delta can be charged, and the "
            "promise never fails. Otherwise choose D far below 1 divided by the number of "
            "records: 1e-6 for ten thousand records, say. The sum cannot be changed later.",
        ),
    ] = 0.0,
    neighbours: Annotated[
        Literal["add-remove", "replace"],
        typer.Option(
            help="What epsilon protects: adding or removing a record, or replacing a record by "
            "another; with a unit: all records of a unit. Only models with the same setting can be "
            "charged."
        ),
    ] = "add-remove",
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help=f"{UNIT_HELP} Epsilon then protects all records of one unit together, and only "
            "models with the same unit can be charged. Without it, the budget is for single "
            "records.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the dataset. The default is the file's name."),
    ] = None,
) -> None:
    """Make a budget FILE for one dataset.

    Each model of the same records reveals a little more about each record, and the epsilons of the
    models add up. Decide once how large the sum may become, and charge every training to the budget
    with fit --budget. The charge is made before any noise is drawn, and stays even if the training
    fails. The deltas of models that have one add up to a sum of their own.

    Make one file for each dataset, on a disk of this machine, and keep it with the records: a
    second file or a copy would be a second budget.

    Example: privatree budget create patients.db --epsilon 1 --unit patient_id
    """
    from privatree.privacy import BudgetStore

    name = file.stem if dataset is None else dataset
    BudgetStore.create(file, epsilon, delta=delta, neighbours=neighbours, unit=unit, dataset=name)
    warn_of_large_epsilon(epsilon)
    warn_of_large_delta(delta)
    print_text(f"Created {file}. Charge it with: privatree fit ... --budget {file}")


@app.command("show")
def show_budget(file: File, as_json: AsJson = False) -> None:
    """Print the epsilon of a budget FILE: the total, what is spent and what is left.

    If the budget has a delta, print the same for delta.

    Example: privatree budget show patients.db
    """
    from privatree.privacy import BudgetStore, UnitWords, format_epsilon

    account = BudgetStore(file).read()
    if as_json:
        print_json(_budget_summary(account))
        return
    counted = "1 charge" if len(account.charges) == 1 else f"{len(account.charges)} charges"
    print_text(
        f"Budget of {account.dataset or file}\n"
        f"  epsilon     {format_epsilon(account.epsilon, up=False)}\n"
        f"  spent       {format_epsilon(account.spent, up=True)} in {counted}\n"
        f"  left        {format_epsilon(account.remaining, up=False)}\n"
        f"{_delta_of_budget(account)}"
        f"  neighbours  {UnitWords(account.unit).change(account.neighbours)}\n"
        f"  created     {account.created:%Y-%m-%d %H:%M} UTC"
    )


@app.command("charges")
def show_budget_charges(file: File, as_json: AsJson = False) -> None:
    """Print every charge to a budget FILE: time, epsilon, epsilon left, purpose and note.

    If the budget has a delta, print the delta of each charge, too.

    Example: privatree budget charges patients.db
    """
    from privatree.privacy import BudgetStore, UnitWords

    account = BudgetStore(file).read()
    if as_json:
        listed = [
            {
                "number": charge.number,
                "time": charge.time.isoformat(),
                "epsilon": float(charge.epsilon),
                "delta": float(charge.delta),
                "purpose": charge.purpose,
                "note": charge.note,
            }
            for charge in account.charges
        ]
        print_json(_budget_summary(account) | {"charges": listed})
    elif account.charges:
        if account.unit is not None:
            print_text(f"Each charge is for {UnitWords(account.unit).whole}.")
        _print_budget_charges(account)
    else:
        print_text(f"{file}: nothing has been charged yet.")


def _delta_of_budget(account: Account) -> str:
    """Return the line on delta; empty if the budget has none."""
    from privatree.privacy import format_epsilon

    if account.delta == 0:
        return ""
    spent = format_epsilon(account.spent_delta, up=True)
    total, left = (format_epsilon(d, up=False) for d in (account.delta, account.remaining_delta))
    return f"  delta       {total}: {spent} is spent and {left} left\n"


def _budget_summary(account: Account) -> dict[str, Any]:
    from privatree.privacy import format_epsilon

    return {
        "dataset": account.dataset,
        "neighbours": account.neighbours,
        "unit": account.unit,
        "created": account.created.isoformat(),
        "epsilon": float(account.epsilon),
        "spent": float(account.spent),
        # Rounded down to a float, so that the budget covers a charge of this much.
        "remaining": float(format_epsilon(account.remaining, up=False, digits=15)),
        "delta": float(account.delta),
        "spent_delta": float(account.spent_delta),
        "remaining_delta": float(format_epsilon(account.remaining_delta, up=False, digits=15)),
        "charges": len(account.charges),
    }


def _print_budget_charges(account: Account) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from privatree.privacy import format_epsilon

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    deltas = ("delta",) if account.delta else ()
    for title in ("no.", "time (UTC)", "epsilon", "left", *deltas, "purpose", "note"):
        is_number = title in ("no.", "epsilon", "left", "delta")
        table.add_column(title, justify="right" if is_number else "left", overflow="fold")
    left = account.epsilon
    for charge in account.charges:
        left -= charge.epsilon
        table.add_row(
            str(charge.number),
            f"{charge.time:%Y-%m-%d %H:%M:%S}",
            format_epsilon(charge.epsilon, up=True),
            format_epsilon(left, up=False),
            *(format_epsilon(charge.delta, up=True) for _ in deltas),
            Text(charge.purpose),  # not a str: rich would take brackets for styles
            Text(charge.note),
        )
    Console().print(table)
