from __future__ import annotations

import contextlib
import gc
import json
import os
from pathlib import Path
from typing import Any

import pytest

from privatree._support.json_files import (
    MAX_BYTES,
    MAX_NAMES,
    MAX_VALUES,
    check_json_size,
    read_json,
    shorten_message,
)
from privatree.errors import ModelFormatError


def read(path: Path, contents: bytes) -> Any:
    path.write_bytes(contents)
    return read_json(path, "a thing", lambda written: written)


def test_json_is_read(tmp_path: Path) -> None:
    written = {"a": [1, -0.5, 10**300, None, True, "ü\n\U0001f600"], "": {}}
    assert read(tmp_path / "x", json.dumps(written).encode()) == written
    assert read(tmp_path / "x", json.dumps(written, ensure_ascii=False).encode()) == written
    assert read(tmp_path / "x", json.dumps(written).encode("utf-8-sig")) == written


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "a thing must be JSON, but is not .Expecting value"),
        (b"\xff", "a thing must be UTF-8 text. Save it as UTF-8."),
        (b'"\xed\xa0\x80"', "must be UTF-8 text"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "must be JSON"),
        (b"{}\xef\xbb\xbf", "must be JSON"),
        (b'{"a": 1, "a": 1}', "same key twice"),
        (b"[NaN]", "must be finite"),
        (b"[1e999]", "must be finite"),
        (b"9" * 5000, "thousands of digits"),
        (b"[" * 100_000, "without deep nesting"),
        (b"[" * 100_000 + b"]" * 100_000, "without deep nesting"),
        (b'{"a":' * 100_000, "without deep nesting"),
        (b" " * (MAX_BYTES + 1), f"at most {MAX_BYTES} bytes"),
    ],
    ids=range(13),
)
def test_what_is_no_json_is_refused_in_one_line(
    tmp_path: Path, contents: bytes, message: str
) -> None:
    path = tmp_path / "x"
    with pytest.raises(ModelFormatError, match=f"^{path}: .*{message}") as caught:
        read(path, contents)
    assert "\n" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_what_is_not_understood_is_refused_in_one_line(tmp_path: Path) -> None:
    def refuse(written: Any) -> None:
        raise ModelFormatError("it\nis " + "x" * 1000)

    (tmp_path / "x").write_text("{}")
    with pytest.raises(ModelFormatError) as caught:
        read_json(tmp_path / "x", "a thing", refuse)
    assert str(caught.value).startswith(f"{tmp_path / 'x'}: it is xxx")
    assert len(str(caught.value)) <= len(str(tmp_path / "x")) + 302
    assert shorten_message(" a \n b\t") == "a b"


def test_what_recurses_too_deeply_when_understood_is_refused(tmp_path: Path) -> None:
    def deep(written: Any) -> Any:
        return deep(written)

    (tmp_path / "x").write_text("{}")
    with pytest.raises(ModelFormatError, match="without deep nesting"):
        read_json(tmp_path / "x", "a thing", deep)


@pytest.mark.parametrize("contents", [b"{}", b"{", b"[" * 100_000])
@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_again_afterwards(
    tmp_path: Path, contents: bytes, collecting: bool
) -> None:
    try:
        (gc.enable if collecting else gc.disable)()
        with contextlib.suppress(ModelFormatError):
            read(tmp_path / "x", contents)
        assert gc.isenabled() == collecting
    finally:
        gc.enable()


# --- size ---------------------------------------------------------------------------------------

NODE = b'{"feature": "f", "threshold": 0.5, "left": 1, "right": 2},\n'


def test_a_file_may_be_as_large_as_a_full_tree() -> None:
    """131,071 nodes and 65,536 spends of usual names."""
    spend = b'{"mechanism": "m", "epsilon": 1.0, "delta": 0.0, "times": 1, "purpose": "p"},\n'
    check_json_size(NODE * 131_071 + spend * 65_536, "a thing")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"[]," * 2 * MAX_VALUES, f"at most {MAX_VALUES} values"),
        (b'{"":0},' * MAX_VALUES, f"at most {MAX_VALUES} values"),
        (b"".join(b'"k%d": 0,' % n for n in range(400_000)), f"at most {MAX_NAMES} keys"),
        (b"".join(b'"k%d" : 0,' % n for n in range(400_000)), f"at most {MAX_NAMES} keys"),
        ("\U0001f600".encode() + b"a" * (MAX_BYTES // 2), f"at most {MAX_BYTES // 2} bytes"),
    ],
    ids=["lists", "objects", "names", "names and spaces", "wide"],
)
def test_a_file_that_asks_for_much_memory_is_refused(contents: bytes, message: str) -> None:
    with pytest.raises(ModelFormatError, match=f"a thing must (be|have) {message}"):
        check_json_size(contents, "a thing")


@pytest.mark.skipif(os.name != "posix", reason="a device of POSIX")
def test_a_device_without_an_end_is_not_read_to_the_end() -> None:
    with pytest.raises(ModelFormatError, match="at most"):
        read_json("/dev/zero", "a thing", lambda written: written)
