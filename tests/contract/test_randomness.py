"""Only ``privacy/_randomness.py`` draws what must be secret; compiled code draws nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import privatree

ROOT = Path(privatree.__file__).parent

# Where random numbers can come from. A name stands for all that is inside it.
SOURCES = (
    "random",
    "secrets",
    "uuid",
    "tempfile",
    "os.urandom",
    "os.getrandom",
    "ssl.RAND_bytes",
    "numpy.random",
    "scipy.stats",
    "numba.np.random",
    "sklearn.utils.check_random_state",
    "sklearn.utils.resample",
    "sklearn.utils.shuffle",
    "sklearn.utils.random",
    "sklearn.utils.validation.check_random_state",
    "sklearn.model_selection",
)

# The source itself, and what is not noise: splits and attacks by a seed that everybody may know,
# laws that are computed and not drawn from, names of temporary files.
ALLOWED = {
    "privacy/_randomness.py": {"os.urandom", "numpy.random"},
    "_support/atomic_files.py": {"secrets"},
    "audit/pairs/_file_neighbours.py": {"tempfile"},
    "tables/_unit_ids.py": {"uuid"},  # a type of ids; nothing is drawn
    "cli/_held_out.py": {"sklearn.utils.check_random_state"},
    "cli/commands/_demo.py": {"sklearn.model_selection"},
    "cli/_prediction_files.py": {"tempfile"},
    "cli/_output.py": {"tempfile"},
    "_support/kernels/kernel_folder.py": {"tempfile"},
    "reproduction/running/_tasks.py": {"sklearn.model_selection"},
    "reproduction/loading/_cached.py": {"tempfile"},
    "repetition/_confidence.py": {"scipy.stats"},
    "robustness/attacks/_attacks.py": {"sklearn.utils.check_random_state"},
    "inspection/_label_rules.py": {"numpy.random"},  # folds for a draft, which is no release
}


def used_sources(code: str) -> set[str]:
    """Which sources of random numbers a module names, by whatever way it imports them."""
    return {
        source
        for name in _names(ast.parse(code))
        for source in SOURCES
        if f"{name}.".startswith(f"{source}.")
    }


def _names(tree: ast.Module) -> Iterator[str]:
    """The full dotted names of all that is imported or reached through an import."""
    meaning: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                shown = alias.name if alias.asname else alias.name.partition(".")[0]
                meaning[alias.asname or shown] = shown
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
                meaning[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield _full_name(node, meaning)
        elif isinstance(node, ast.Call):
            yield _named_by_text(node, meaning)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            meaning.setdefault(node.targets[0].id, _full_name(node.value, meaning))


def _full_name(node: ast.AST, meaning: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return meaning.get(node.id, "")
    if isinstance(node, ast.Attribute) and (inside := _full_name(node.value, meaning)):
        return f"{inside}.{node.attr}"
    return ""


def _named_by_text(call: ast.Call, meaning: dict[str, str]) -> str:
    """What ``import_module("random")`` and ``getattr(np, "random")`` name."""
    function = call.func.id if isinstance(call.func, ast.Name) else ""
    function = _full_name(call.func, meaning) or function
    texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if not texts:
        return ""
    if function in ("importlib.import_module", "__import__"):
        return texts[0]
    if function == "getattr":
        return f"{_full_name(call.args[0], meaning)}.{texts[0]}"
    return ""


FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


@pytest.mark.slow
def test_nothing_draws_but_the_one_source() -> None:
    used = {file: used_sources((ROOT / file).read_text()) for file in FILES}
    assert {file: found for file, found in used.items() if found} == ALLOWED


def test_the_one_source_has_no_compiled_code() -> None:
    code = (ROOT / "privacy" / "_randomness.py").read_text()
    assert not any(name.startswith("numba") for name in _names(ast.parse(code)))


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("import random", "random"),
        ("import random as r", "random"),
        ("from random import Random", "random"),
        ("from random import *", "random"),
        ("import secrets", "secrets"),
        ("import uuid", "uuid"),
        ("from os import urandom", "os.urandom"),
        ("import os as o\no.urandom(8)", "os.urandom"),
        ("import os\ndraw = os.getrandom", "os.getrandom"),
        ("import numpy as np\nnp.random.default_rng()", "numpy.random"),
        ("import numpy\nx = numpy.random", "numpy.random"),
        ("import numpy.random", "numpy.random"),
        ("import numpy.random as r", "numpy.random"),
        ("from numpy import random", "numpy.random"),
        ("from numpy import random as r\nr.normal()", "numpy.random"),
        ("from numpy.random import Generator", "numpy.random"),
        (
            "import numpy as np\ndef f():\n    xp = np\n    return xp.random.normal()",
            "numpy.random",
        ),
        ("import numpy as np\n@njit\ndef kernel():\n    return np.random.random()", "numpy.random"),
        ("import numpy as np\ngetattr(np, 'random').normal()", "numpy.random"),
        ("from importlib import import_module\nimport_module('numpy.random')", "numpy.random"),
        ("__import__('random').random()", "random"),
        ("def f():\n    import random", "random"),
        ("from scipy import stats", "scipy.stats"),
        ("from sklearn.utils import check_random_state", "sklearn.utils.check_random_state"),
        ("from sklearn.model_selection import train_test_split", "sklearn.model_selection"),
        ("import tempfile", "tempfile"),
    ],
)
def test_every_way_to_a_source_is_seen(code: str, source: str) -> None:
    assert used_sources(code) == {source}


@pytest.mark.parametrize(
    "code",
    [
        '"""Not np.random.normal, nor import random."""',
        "# import random",
        "def fit(random_state=None):\n    random = random_state\n    return random",
        "from privatree.privacy._randomness import Randomness\nRandomness().bits(3)",
        "from privatree.baselines import random_tree\nrandom_tree.draw_splits()",
        "import numpy as np\nnp.sum(random)",
        "import os\nos.replace('a', 'b')",
        "from sklearn.utils import gen_batches",
    ],
)
def test_other_code_is_not(code: str) -> None:
    assert used_sources(code) == set()
