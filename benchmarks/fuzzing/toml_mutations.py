"""Changes of the lines of a TOML file: most of them leave it TOML."""

from __future__ import annotations

import random
from collections.abc import Callable

_MAX_CHARACTERS = 1_000_000
"""By which one change makes a file longer, about."""
VALUES = (
    "0", "-0", "+1", "1", "-1", "0.5", "1e3", "1e400", "-1e400", "1e-400", "5e-324", "1e308",
    "-1.7e308", "inf", "-inf", "nan", "+nan", "1_000", "1__0", "01", "0x10", "0o17", "0b11",
    "0xffffffffffffffff", "9223372036854775808", "9" * 308, "9" * 310, "9" * 5000,
    "0x" + "f" * 5000, "0b" + "1" * 5000, "1." + "1" * 5000, "true", "false", "True", "''", '""',
    '"\\u0000"', '"\\ud800"', '"\\U0001f600"', '"\\q"', '"a\\', '"""', '"""\na\\\n  b"""',
    "'''\n'''", '"""a"""""', '"x', "'x", '"é"', '"\x00"', '"\x7f"', "1979-05-27", "07:32:00",
    "1979-05-27T07:32:00Z",
    "1979-13-45", "1979-05-27T07:32:00.999999+25:00", "[]", "[[]]", "[1, 2]", "[1, 2,]", "[,]",
    '["a", "a"]', '["a", 1]', "[true, false]", "[1.0, 1]", "[nan]", "[inf]", "[1979-05-27]", "[{}]",
    "{}", "{a = 1}", "{a.b.c = 1, a.b.d = 2}", "{a = {b = {}}}", "{a = 1, a = 2}", "{a = 1,}", "",
    "1 2", "# nothing", '"numeric"', '"categorical"', '"x"' * 3, "'" + "x" * 20_000 + "'",
    "[" + "1," * 3000 + "1]", "[" + ", ".join(f'"{n}"' for n in range(3000)) + "]",
    "[" * 50 + "]" * 50, "[" * 5000 + "]" * 5000, "[" * 100_000, "{a=" * 300 + "1" + "}" * 300,
    "{a=" * 30_000,
)  # fmt: skip
LINES = (
    "[features]", "[features.new]", "[features.age]", "[[features]]", "[[features.age]]",
    "[classes]", "[]", "[a", "[a]]", "[a.b.c.d.e]", '["a"."b"]', "['']", "[ features . x ]",
    "classes = [0, 1]", "features = {}", "features.age.low = 5",
    "features.x = {kind = 'numeric', low = 0, high = 1}", 'kind = "numeric"',
    'kind = "categorical"', "low = 0", "high = 1", "missing = 0", "integer = true", "integer = 1",
    "cuts = [0.25, 0.5]", 'categories = ["a", "b"]', 'missing = "a"', "= 1", "a", "a =",
    "a.b.c = 1", '"" = 1', "'a b' = 1", "a.'b'.\"c\" = 1", "é = 1", "\ufeff", "\x00", "# \x01",
    "\x1b", ".".join("a" * 20) + " = 1", ".".join("a" * 30_000) + " = 1",
    "[" + ".".join("a" * 30_000) + "]", " . ".join(['"a"'] * 10_000) + " = 1",
    'x = """a""""" # ' + ".".join("a" * 50), "\n".join("#" * 3000),
    "\n".join(f"[features.f{n}]\nkind='numeric'\nlow=0\nhigh=1" for n in range(300)),
    "\n".join(f"k{n} = {n}" for n in range(3000)), "[[a]]\n" * 3000,
)  # fmt: skip
KEYS = ("kind", "low", "high", "integer", "cuts", "missing", "categories", "classes", "features",
        "a", '""', "a.b", "'x y'", "é", "x" * 5000)  # fmt: skip


def set_value(lines: list[str], rng: random.Random) -> None:
    if found := [number for number, line in enumerate(lines) if "=" in line]:
        number = rng.choice(found)
        key = lines[number].partition("=")[0]
        lines[number] = f"{key}= {rng.choice(VALUES)}"


def set_key(lines: list[str], rng: random.Random) -> None:
    if found := [number for number, line in enumerate(lines) if "=" in line]:
        number = rng.choice(found)
        lines[number] = f"{rng.choice(KEYS)} ={lines[number].partition('=')[2]}"


def insert_line(lines: list[str], rng: random.Random) -> None:
    line = rng.choice((*LINES, f"{rng.choice(KEYS)} = {rng.choice(VALUES)}"))
    lines.insert(rng.randrange(len(lines) + 1), line)


def delete_line(lines: list[str], rng: random.Random) -> None:
    del lines[rng.randrange(len(lines))]


def repeat_line(lines: list[str], rng: random.Random) -> None:
    number = rng.randrange(len(lines))
    times = min(rng.choice((1, 1, 2, 1000)), _MAX_CHARACTERS // (len(lines[number]) + 1))
    lines[number:number] = [lines[number]] * times


def exchange_lines(lines: list[str], rng: random.Random) -> None:
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def join_lines(lines: list[str], rng: random.Random) -> None:
    number = rng.randrange(len(lines))
    lines[number : number + 2] = [rng.choice(("", " ", ",", "\r")).join(lines[number : number + 2])]


def repeat_table(lines: list[str], rng: random.Random) -> None:
    if found := [number for number, line in enumerate(lines) if line.startswith("[")]:
        start = rng.choice(found)
        end = min((n for n in found if n > start), default=len(lines))
        table = lines[start:end]
        if rng.random() < 0.7 and table:
            table = [f"[features.new{rng.randrange(100)}]", *table[1:]]
        lines[end:end] = table


def change_list(lines: list[str], rng: random.Random) -> None:
    """Reorder a list, or drop or repeat some of its entries."""
    if found := [
        number for number, line in enumerate(lines) if line.endswith("]") and "= [" in line
    ]:
        number = rng.choice(found)
        key, _, rest = lines[number].partition("= [")
        entries = rest[:-1].split(", ")
        rng.shuffle(entries)
        times = min(rng.choice((1, 1, 2, 500)), _MAX_CHARACTERS // len(rest) + 1)
        entries = entries[: rng.randrange(len(entries) + 1)] * times
        entries += rng.choices(VALUES[:36], k=rng.choice((0, 0, 1)))
        lines[number] = f"{key}= [{rng.choice((', ', ',', ' , ')).join(entries)}]"


def change_layout(lines: list[str], rng: random.Random) -> None:
    end = rng.choice(("\r", "  ", "\t# a comment", " # \u2028", "\x0b"))
    for number in range(len(lines)):
        lines[number] += end


ACTIONS: tuple[Callable[[list[str], random.Random], None], ...] = (
    set_value, set_value, set_value, set_key, insert_line, insert_line, delete_line, repeat_line,
    exchange_lines, join_lines, repeat_table, repeat_table, change_list, change_list, change_layout,
)  # fmt: skip


def mutated(contents: bytes, rng: random.Random) -> bytes:
    """Return the file after one to six changes of its lines."""
    lines = contents.decode("utf-8").split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if lines:
            rng.choice(ACTIONS)(lines, rng)
    return "\n".join(lines).encode("utf-8", "surrogatepass")
