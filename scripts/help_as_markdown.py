"""The help of a command as Markdown, for the page of the command line.

Made from the commands' own signatures and docstrings, not as the terminal shows it: how that looks
depends on the version of a library and on the machine.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo

from privatree.cli._app import app

_BY_MACHINE = {"jobs": "as many as there are processors"}


def commands(program: Typer = app, path: str = "privatree") -> dict[str, Callable[..., None]]:
    """Return all commands, by the words to type."""
    found = {f"{path} {each.name}": each.callback for each in program.registered_commands}
    for group in program.registered_groups:
        found |= commands(group.typer_instance, f"{path} {group.name}")
    return found


def option_names(command: Callable[..., None]) -> set[str]:
    """Return the long names of the options of a command."""
    return {each.names[0] for each in _parameters(command) if not each.is_argument}


def help_as_markdown(path: str) -> str:
    """How to call a command, what it does, an example, and its arguments and options.

    Parameters
    ----------
    path : str
        Such as ``privatree fit``.
    """
    command = commands()[path]
    parameters = sorted(_parameters(command), key=lambda each: not each.is_argument)
    required = [each.usage for each in parameters if each.is_argument or each.is_required]
    optional = [] if len(required) == len(parameters) else ["[options]"]
    usage = " ".join([path, *required, *optional])
    return "\n\n".join(
        [
            f"```sh\n{usage}\n```",
            *_paragraphs(inspect.getdoc(command)),
            "\n".join(each.bullet for each in parameters),
        ]
    )


class _Parameter:
    """An argument or option, as its function declares it."""

    def __init__(self, name: str, default: Any, kind: Any, info: Any) -> None:
        self.name, self.default, self.kind, self.info = name, default, _without_none(kind), info
        self.is_argument = isinstance(info, ArgumentInfo)
        self.is_required = default is inspect.Parameter.empty
        # Where a signature has the default, typer keeps the first name in its place.
        given = [info.default, *(info.param_decls or ())]
        names = [each for each in given if isinstance(each, str) and each.startswith("-")]
        self.names = names or [f"--{name.replace('_', '-')}"]

    @property
    def usage(self) -> str:
        """The words to type for this argument or option."""
        if self.is_argument:
            name = self.info.metavar or self.name.upper()
            return f"{name}..." if get_origin(self.kind) is list else name
        return self.names[0] if self.kind is bool else f"{self.names[0]} {self._value}"

    @property
    def _value(self) -> str:
        if self.info.metavar:
            return str(self.info.metavar)
        if get_origin(self.kind) is Literal:
            return "|".join(get_args(self.kind))
        if isinstance(self.kind, type) and issubclass(self.kind, Enum):
            return "|".join(each.value for each in self.kind)
        return self.name.upper()

    @property
    def bullet(self) -> str:
        """The line of the help list: names, default and meaning."""
        shown = self.usage if self.is_argument else ", ".join([*self.names[1:], self.usage])
        said = re.sub(r"([*<])", r"\\\1", " ".join(self.info.help.split()))
        return f"- `{shown}`: {said}{self._default}"

    @property
    def _default(self) -> str:
        if self.is_argument:
            return ""
        if self.is_required:
            return " **Required.**"
        if isinstance(self.info.show_default, str):
            return f" Default: {self.info.show_default}."
        if self.name in _BY_MACHINE:
            return f" Default: {_BY_MACHINE[self.name]}."
        if self.default is None or self.default is False:
            return ""
        return f" Default: `{self.default}`."


def _parameters(command: Callable[..., None]) -> Iterator[_Parameter]:
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, info = get_args(hints[name])
        if get_origin(hints[name]) is not Annotated:
            raise TypeError(f"{command.__name__}: {name} has no help.")
        yield _Parameter(name, parameter.default, kind, info)


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        (kind,) = [each for each in get_args(kind) if each is not NoneType]
    return kind


def _paragraphs(text: str) -> list[str]:
    joined = [" ".join(part.split()) for part in text.split("\n\n")]
    return [
        f"```sh\n{part.removeprefix('Example: ')}\n```" if part.startswith("Example: ") else part
        for part in joined
    ]
