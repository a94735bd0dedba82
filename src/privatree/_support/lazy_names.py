"""Names of a package that are loaded when they are first used.

The package's ``__init__.pyi`` lists the names. Type checkers and editors read it too (Scientific
Python's SPEC 1). So ``import privatree`` is quick, and a command loads only what it needs.
"""

import ast
import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package, from its stub.

    The stub ``__init__.pyi`` imports each name from the module that defines it. If the stub has no
    ``__all__``, all of its names are public.

    Examples
    --------
    >>> load_attribute, _, public = lazy_names("privatree.sources")
    >>> public
    ['ArrowSource', 'CsvSource', 'ParquetSource', 'SparkSource']
    >>> load_attribute("CsvSource").__module__
    'privatree.sources._file_sources'
    """
    stub = pkgutil.get_data(package, "__init__.pyi")
    assert stub is not None  # noqa: S101 - every loader of source files can read it
    homes: dict[str, str | None] = {}
    public = None
    for line in ast.parse(stub).body:
        if isinstance(line, ast.ImportFrom):
            homes |= {name.name: line.module for name in line.names}
        elif isinstance(line, ast.Assign):
            public = ast.literal_eval(line.value)
    names = sorted(homes if public is None else public)

    def load_attribute(name: str) -> Any:
        """Import the module that defines a name of the package, and return the object."""
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(str(homes[name])), name)

    return load_attribute, lambda: names, names
