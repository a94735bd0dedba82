"""Tables and figures of ``reproduce`` are as they were: compared with what is kept here.

A change that is meant: run ``scripts/refresh_golden.py`` and read the difference before it is kept.
"""

import json
from pathlib import Path

import pytest
from rendered import REQUESTS, rendered
from test_golden import near

from privatree.reproduction.targets import TARGETS

FILES = Path(__file__).parent / "reproduction"


@pytest.mark.slow
@pytest.mark.parametrize("target", REQUESTS)
def test_it_is_as_it_was(target):
    found = rendered(target)
    kept = {path.name: path.read_text("utf-8") for path in (FILES / target).iterdir()}
    assert set(found) == set(kept)
    for name, text in found.items():
        if name.endswith(".json"):
            assert json.loads(text) == near(json.loads(kept[name]))
        else:
            assert text == kept[name]


def test_every_target_has_its_files():
    assert {path.name for path in FILES.iterdir()} == set(REQUESTS) == set(TARGETS)
