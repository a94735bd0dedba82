"""``privatree budget``: what may be spent on one set of records, in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privatree.cli._learner_options import warn_of_large_epsilon
from privatree.cli._output import say, write_output

if TYPE_CHECKING:
    from privatree.privacy import Account

app = typer.Typer(
    help="Keep the sum of all epsilons spent on the same records below a cap, in a file.",
    rich_markup_mode="markdown",
)

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A budget, as made by privatree budget create.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]

_NEIGHBOURS = {
    "add-remove": "one record added or removed",
    "replace": "one record replaced by another",
}


@app.command("create")
def create(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file to make. One that is there is kept."),
    ],
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="E",
            help="What all models of these records may spend together: with or without any one "
            "record, all that is ever released is at most e^E times as likely. It cannot be "
            "changed later.",
        ),
    ],
    neighbours: Annotated[
        Literal["add-remove", "replace"],
        typer.Option(
            help="Whether epsilon is for one record more or less, or for one replaced by another. "
            "Only models of the same kind can be charged."
        ),
    ] = "add-remove",
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What the records are called; else as the file."),
    ] = None,
) -> None:
    """Make a budget FILE for one set of records.

    Each model of the same records tells a little more of each of them; their epsilons add up.
    Decide once how much that may be in all, and let every training charge it with fit --budget. A
    charge is made before anything is drawn, and stays even if the training fails.

    Make one file for each set of records, on a disk of this machine, and keep it with them: a
    second file, or a copy, is a second budget.

    Example: privatree budget create patients.db --epsilon 1
    """
    from privatree.privacy import BudgetStore

    name = file.stem if dataset is None else dataset
    BudgetStore.create(file, epsilon, neighbours=neighbours, dataset=name)
    warn_of_large_epsilon(epsilon)
    say(f"Created {file}. Charge it with: privatree fit ... --budget {file}")


@app.command("show")
def show(file: File, as_json: AsJson = False) -> None:
    """Print what a budget FILE allows, what was spent, and what is left.

    Example: privatree budget show patients.db
    """
    account = _read(file)
    if as_json:
        write_output(None, f"{json.dumps(_summary(account), indent=1)}\n", form="json")
        return
    from privatree.privacy import format_epsilon

    counted = "1 charge" if len(account.charges) == 1 else f"{len(account.charges)} charges"
    say(
        f"Budget of {account.dataset or file}\n"
        f"  epsilon     {format_epsilon(account.epsilon, up=False)}\n"
        f"  spent       {format_epsilon(account.spent, up=True)} in {counted}\n"
        f"  left        {format_epsilon(account.remaining, up=False)}\n"
        f"  neighbours  {_NEIGHBOURS[account.neighbours]}\n"
        f"  created     {account.created:%Y-%m-%d %H:%M} UTC"
    )


@app.command("charges")
def charges(file: File, as_json: AsJson = False) -> None:
    """Print every charge to a budget FILE: when, how much, for what, and what was left then.

    Example: privatree budget charges patients.db
    """
    account = _read(file)
    if as_json:
        written = json.dumps({**_summary(account), "charges": _list(account)}, indent=1)
        write_output(None, f"{written}\n", form="json")
    elif account.charges:
        _print_table(account)
    else:
        say(f"{file}: nothing was charged yet.")


def _read(file: Path) -> Account:
    from privatree.privacy import BudgetStore

    return BudgetStore(file).read()


def _summary(account: Account) -> dict[str, Any]:
    from privatree.privacy import format_epsilon

    return {
        "dataset": account.dataset,
        "neighbours": account.neighbours,
        "created": account.created.isoformat(),
        "epsilon": float(account.epsilon),
        "spent": float(account.spent),
        # Rounded down to what a float can say: a charge of this much is covered.
        "remaining": float(format_epsilon(account.remaining, up=False, digits=15)),
        "charges": len(account.charges),
    }


def _list(account: Account) -> list[dict[str, Any]]:
    return [
        {
            "number": charge.number,
            "time": charge.time.isoformat(),
            "epsilon": float(charge.epsilon),
            "purpose": charge.purpose,
            "note": charge.note,
        }
        for charge in account.charges
    ]


def _print_table(account: Account) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from privatree.privacy import format_epsilon

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("no.", "time (UTC)", "epsilon", "left", "purpose", "note"):
        is_number = title in ("no.", "epsilon", "left")
        table.add_column(title, justify="right" if is_number else "left", overflow="fold")
    left = account.epsilon
    for charge in account.charges:
        left -= charge.epsilon
        table.add_row(
            str(charge.number),
            f"{charge.time:%Y-%m-%d %H:%M:%S}",
            format_epsilon(charge.epsilon, up=True),
            format_epsilon(left, up=False),
            Text(charge.purpose),  # not a str: in one, brackets would be taken for style
            Text(charge.note),
        )
    Console().print(table)
