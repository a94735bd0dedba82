"""Changes of what a JSON file says: most of them leave it JSON."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from typing import Any

Place = tuple[Any, Any]
"""A dictionary or list, and a key or position in it."""


class Literal(str):
    """Text that is written into the file without quotation marks."""


_MARK = "@literal@"
_MAX_CHARACTERS = 2_000_000
"""Of a mutated file, about."""
NUMBERS = [
    Literal(text)
    for text in (
        "0", "-0", "-0.0", "1", "-1", "2", "0.5", "1.0", "1e0", "1e308", "-1e308", "1e400",
        "-1e400", "0.1e-400", "5e-324", "1e-310", "1e-9", "1.7976931348623157e308",
        "9007199254740993", "2147483648", "-2147483649", "4294967296", "9223372036854775808",
        "NaN", "Infinity", "-Infinity", "true", "false", "null", "01", "1.", ".5", "+1", "0x10",
        "1_000", "1e",
        "9" * 19, "9" * 308, "9" * 310, "9" * 400, "9" * 5000, "1" + "0" * 4298, "0." + "1" * 5000,
    )
]  # fmt: skip
STRINGS: list[Any] = [
    "", " ", "\n", "\x00", "\x1b[31m", "\u202e", "\ufeff", "\ud800", "é", "\U0001f600", "nan",
    "NaN", "infinity", "inf", "-infinity", "1e400", "1/0", "0", "1", "true", "None", "__class__",
    "privatree-model", "privatree-certificate", "add-remove", "replace", "numeric", "categorical",
    "x" * 300, "x" * 20_000, "word " * 5000, "\u0301" * 1000, Literal('"\\ud800"'),
    Literal('"\\u0000"'), Literal('"\\q"'), Literal("'x'"),
]  # fmt: skip
VALUES: list[Any] = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    [[], {}],
    {"a": 1},
    {"": None},
    [1, 2],
]
KEYS = (
    "", "extra", "label", "missing", "cuts", "kind", "feature", "threshold", "categories", "low",
    "high", "left", "right", "probability", "nodes", "schema", "node", "times", "__init__", "\x00",
)  # fmt: skip


def places(part: Any) -> list[Place]:
    """Return the paths of all values inside, up to a few thousand."""
    found: list[Place] = []
    waiting = [part]
    while waiting and len(found) < 5000:
        container = waiting.pop()
        keys = container.keys() if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], (dict, list)):
                waiting.append(container[key])
    return found


def _lists(written: Any) -> list[list[Any]]:
    return [c[k] for c, k in places(written) if isinstance(c[k], list)]


def _tables(written: Any) -> list[dict[str, Any]]:
    return [c[k] for c, k in places(written) if isinstance(c[k], dict)]


# --- anywhere -----------------------------------------------------------------------------------


def set_number(written: Any, rng: random.Random) -> None:
    found = [(c, k) for c, k in places(written) if type(c[k]) in (int, float)]
    if found:
        container, key = rng.choice(found)
        container[key] = rng.choice(NUMBERS)


def nudge_number(written: Any, rng: random.Random) -> None:
    found = [(c, k) for c, k in places(written) if type(c[k]) in (int, float)]
    if found:
        container, key = rng.choice(found)
        number = container[key]
        container[key] = rng.choice(
            (
                number + 1,
                number - 1,
                -number,
                number * 2,
                number / 3,
                number * 1e-320,
                number * 1e300,
            )
        )


def set_string(written: Any, rng: random.Random) -> None:
    found = [(c, k) for c, k in places(written) if type(c[k]) is str]
    if found:
        container, key = rng.choice(found)
        container[key] = rng.choice(STRINGS)


def set_anything(written: Any, rng: random.Random) -> None:
    container, key = rng.choice(places(written))
    container[key] = copy.deepcopy(rng.choice((*VALUES, *STRINGS, *NUMBERS)))


def delete(written: Any, rng: random.Random) -> None:
    container, key = rng.choice(places(written))
    del container[key]


def copy_over(written: Any, rng: random.Random) -> None:
    found = places(written)
    (container, key), (source, source_key) = rng.choice(found), rng.choice(found)
    container[key] = copy.deepcopy(source[source_key])


def swap(written: Any, rng: random.Random) -> None:
    found = places(written)
    (container, key), (other, other_key) = rng.choice(found), rng.choice(found)
    one, two = copy.deepcopy(container[key]), copy.deepcopy(other[other_key])
    container[key], other[other_key] = two, one


def rename(written: Any, rng: random.Random) -> None:
    if tables := [table for table in _tables(written) if table]:
        table = rng.choice(tables)
        table[rng.choice(KEYS)] = table.pop(rng.choice(list(table)))


def add_key(written: Any, rng: random.Random) -> None:
    if tables := _tables(written):
        rng.choice(tables)[rng.choice(KEYS)] = copy.deepcopy(rng.choice((*VALUES, 0, "x")))


def add_many_keys(written: Any, rng: random.Random) -> None:
    if tables := _tables(written):
        many = rng.choice((1, 10, 100, 1000, 20_000))
        rng.choice(tables).update((f"key {n}", n) for n in range(many))


def key_twice(written: Any, rng: random.Random) -> None:
    if tables := [table for table in _tables(written) if table]:
        table = rng.choice(tables)
        key, value = rng.choice(list(table.items()))
        pairs = f"{json.dumps(key)}: {json.dumps(value, default=str)}"
        table[rng.choice(KEYS) + "0"] = Literal(f"0, {pairs}")


def change_list(written: Any, rng: random.Random) -> None:
    if not (lists := _lists(written)):
        return
    chosen = rng.choice(lists)
    action = rng.randrange(6)
    if action == 0:
        chosen.clear()
    elif action == 1 and chosen:
        chosen *= min(1000, 30_000 // len(chosen) + 1)
    elif action == 2:
        chosen.append(copy.deepcopy(rng.choice((*VALUES, *NUMBERS[:8], "x"))))
    elif action == 3:
        rng.shuffle(chosen)
    elif action == 4:
        chosen.reverse()
    elif chosen:
        chosen.insert(rng.randrange(len(chosen)), copy.deepcopy(rng.choice(chosen)))


def nest_deeply(written: Any, rng: random.Random) -> None:
    container, key = rng.choice(places(written))
    depth, closed = rng.choice((50, 300, 900, 2000, 100_000)), rng.random() < 0.7
    begin, end = rng.choice((("[", "]"), ('{"a":', "}")))
    container[key] = Literal(begin * depth + "0" + end * depth * closed)


# --- where it hurts -----------------------------------------------------------------------------


def _nodes(written: Any) -> list[dict[str, Any]]:
    tree = written.get("tree") if isinstance(written, dict) else None
    nodes = tree.get("nodes") if isinstance(tree, dict) else None
    return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []


def point_elsewhere(written: Any, rng: random.Random) -> None:
    """Change a child to the node itself, a parent, the root, no node, or another node's child."""
    nodes = _nodes(written)
    if splits := [node for node in nodes if "left" in node]:
        side = rng.choice(("left", "right"))
        near = rng.choice((0, -1, len(nodes), len(nodes) - 1, 10**9, 2**31, 2**63, 1, 2, 1.0, "1"))
        rng.choice(splits)[side] = rng.choice((near, rng.randrange(len(nodes) + 1)))


def exchange_nodes(written: Any, rng: random.Random) -> None:
    nodes = written["tree"]["nodes"] if _nodes(written) else [0]
    one, other = rng.randrange(len(nodes)), rng.randrange(len(nodes))
    nodes[one], nodes[other] = nodes[other], nodes[one]


def long_chain(written: Any, rng: random.Random) -> None:
    """Make a tree that is as deep as the list of nodes is long."""
    if splits := [node for node in _nodes(written) if "threshold" in node]:
        split, leaf = rng.choice(splits), {"label": written["schema"]["classes"][0]}
        depth = rng.choice((10, 10, 100, 900, 1001, 20_000))
        nodes: list[Any] = []
        for level in range(depth):
            nodes += [{**split, "left": 2 * level + 1, "right": 2 * level + 2}, dict(leaf)]
        # Each split's right child is the next split, its left one the leaf before it.
        written["tree"]["nodes"] = [*nodes, leaf]


def change_mask(written: Any, rng: random.Random) -> None:
    if splits := [n for n in _nodes(written) if isinstance(n.get("categories"), list)]:
        codes = rng.choice(splits)["categories"]
        codes += codes[:1] if rng.random() < 0.5 else [rng.choice(("x", 0, True, 1.5, None))]


def change_probability(written: Any, rng: random.Random) -> None:
    if leaves := [n for n in _nodes(written) if isinstance(n.get("probability"), list)]:
        shares = rng.choice(leaves)["probability"]
        if shares:
            shares[rng.randrange(len(shares))] = rng.choice((0, 1, -0.0, 0.3, -1, 1.1, 1e-320, 2))


def change_range(written: Any, rng: random.Random) -> None:
    """Change a range, its cut points or the side of missing values, so that they hardly agree."""
    if tables := [table for table in _tables(written) if "low" in table]:
        table = rng.choice(tables)
        key = rng.choice(("low", "high", "missing", "cuts", "integer"))
        cuts = rng.choice(
            ([], [0], [0.5, 0.25], [0.25, 0.25], [1e308], [-1e308, 0, 1], ["0"], [[]])
        )
        number = rng.choice((0, -0.0, 1, 5e-324, 1e308, -1e308, 10**300, 2**53 + 1, 0.1, *NUMBERS))
        table[key] = {"cuts": cuts, "integer": rng.choice((True, False, 1))}.get(key, number)


def change_labels(written: Any, rng: random.Random) -> None:
    """Change the type of all labels in the same way, so that the file stays consistent."""
    make = rng.choice((str, lambda n: n, lambda n: n + 0.5, lambda n: 10**300 + n, lambda n: n > 0,
                       lambda n: f"\x00{n}", lambda n: -n, lambda n: f"{n}" * 5000))  # fmt: skip
    schema = written.get("schema") if isinstance(written, dict) else None
    if isinstance(schema, dict) and isinstance(schema.get("classes"), list):
        new = {json.dumps(old, default=str): make(n) for n, old in enumerate(schema["classes"])}
        schema["classes"] = written["classes"] = list(new.values())
        for node in _nodes(written):
            if "label" in node:
                node["label"] = new.get(json.dumps(node["label"], default=str))


def change_spends(written: Any, rng: random.Random) -> None:
    privacy = written.get("privacy") if isinstance(written, dict) else None
    spends = privacy.get("spends") if isinstance(privacy, dict) else None
    if not isinstance(spends, list):
        return
    spend: dict[str, Any] = {
        "mechanism": "m", "epsilon": 0.1, "delta": 0, "times": 1, "purpose": "p", "node": None,
    }  # fmt: skip
    spend[rng.choice(list(spend))] = copy.deepcopy(
        rng.choice((0, -1, 1e308, 5e-324, 10**300, 10**4000, None, "infinity", "x", 1, 2, True))
    )
    privacy[rng.choice(("epsilon", "claimed_epsilon", "delta", "seeded"))] = rng.choice(
        ("infinity", 0, -1, 1e-320, 1e308, None, True, 5, "inf")
    )
    spends += [spend] * rng.choice((1, 1, 1000))


def change_schedule(written: Any, rng: random.Random) -> None:
    privacy = written.get("privacy") if isinstance(written, dict) else None
    if not isinstance(privacy, dict):
        return
    amount = rng.choice((0, 1e-320, 5e-324, 1e-12, 0.001, 0.1, 1, 1e11, 1e300, 1e308))
    kinds = rng.choice((["count"], ["choice"], ["count", "choice"], ["other"]))
    path = [[rng.choice(kinds), amount] for _ in range(rng.choice((0, 1, 3, 20, 101)))]
    sequences = [
        path[: rng.randrange(len(path) + 1)] or path for _ in range(rng.choice((0, 1, 7, 101)))
    ]
    total = amount * len(path) * rng.choice((1, 1, 0.5, 2))
    privacy["schedule"] = {
        "total": total,
        "choices": rng.choice((total, 0, 1e308, -1)),
        "counts": rng.choice((total, 0, 1e308)),
        "sequences": sequences,
    }
    privacy["epsilon"] = rng.choice((total, total, privacy.get("epsilon")))


ANYWHERE = (
    set_number, set_number, nudge_number, nudge_number, set_string, set_anything, delete, copy_over,
    swap, rename, add_key, add_many_keys, key_twice, change_list, change_list, nest_deeply,
)  # fmt: skip


def change_rounds(written: Any, rng: random.Random) -> None:
    """Change the functions of an ensemble: switches, signs, categories, depth, or their number."""
    ensemble = written.get("ensemble") if isinstance(written, dict) else None
    rounds = ensemble.get("rounds") if isinstance(ensemble, dict) else None
    if not isinstance(rounds, list) or not rounds:
        return
    action, one = rng.randrange(7), rng.choice(rounds)
    if not isinstance(one, dict) or not isinstance(function := one.get("function"), dict):
        return
    if action == 0:
        numbers = rng.choice(([], [0.5, 0.25], [0.25, 0.25], [1e308], [20, 30, 40], [None], ["1"]))
        function["switches"] = numbers * rng.choice((1, 1, 5000))
    elif action == 1:
        key = rng.choice(("first", "missing", "threshold", "feature", "positive", "categories"))
        odd = (1, -1, 0, True, 1.0, None, "age", [], ["klein", "klein"], [None], 10**30, 50)
        function[key] = copy.deepcopy(rng.choice(odd))
    elif action == 2:
        for _ in range(rng.choice((1, 2, 8, 12))):
            branch = {"feature": "age", "threshold": 30, "left": function, "right": function}
            function = branch
        one["function"] = function
    elif action == 3:
        one["raises"] = rng.choice(([], [0], [0, 0], [7], "x", None, ["yes"]))
    elif action == 4:
        rounds *= rng.choice((2, 100, 2000))
    elif action == 5:
        ensemble["step"] = rng.choice((0, -1, 1, 0.5, 1e-300, 100, 101, "1", None, True))
    else:
        written["version"] = rng.choice((1, 2, 3, 4))


OF_MODELS = (
    point_elsewhere, exchange_nodes, long_chain, change_mask, change_probability, change_range,
    change_labels, change_spends, change_schedule, change_rounds,
)  # fmt: skip


def mutated(
    contents: bytes, actions: tuple[Callable[[Any, random.Random], None], ...], rng: random.Random
) -> bytes:
    """Return the file after one to six changes of its values."""
    written = json.loads(contents)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if not written:
            break
        try:
            rng.choice(actions)(written, rng)
        except (TypeError, KeyError, AttributeError, ValueError, OverflowError, IndexError):
            continue  # an earlier change took away what this one changes
    marking = _Marking()
    marked = marking.of(written)
    text = json.dumps(marked, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5)
    text = re.sub(rf'"{_MARK}(\d+)@"', lambda found: marking.literals[int(found[1])], text)
    return text.encode("utf-8", rng.choice(("backslashreplace", "surrogatepass")))


class _Marking:
    """An encoder that marks the places of literals, and stops when the file gets too large."""

    def __init__(self) -> None:
        self.literals: list[str] = []
        self._left = _MAX_CHARACTERS

    def of(self, part: Any) -> Any:
        self._left -= 8 + (len(part) if isinstance(part, str) else 0)
        if self._left < 0:
            return None
        if isinstance(part, Literal):
            self.literals.append(part)
            return f"{_MARK}{len(self.literals) - 1}@"
        if isinstance(part, dict):
            return {key: self.of(value) for key, value in part.items() if self._left > 0}
        if isinstance(part, list):
            return [self.of(value) for value in part if self._left > 0]
        return part
