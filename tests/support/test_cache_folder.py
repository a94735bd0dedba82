"""The user's cache folder follows the environment."""

import os
from pathlib import Path

import pytest

from privatree._support.cache_folder import cache_folder


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"PRIVATREE_CACHE": "/p", "XDG_CACHE_HOME": "/x"}, "/p"),
        ({"XDG_CACHE_HOME": "/x", "LOCALAPPDATA": "/l"}, "/x/privatree"),
        ({"LOCALAPPDATA": "/l"}, "/l/privatree"),
        ({"PRIVATREE_CACHE": "", "XDG_CACHE_HOME": ""}, "/home/me/.cache/privatree"),
        ({"PRIVATREE_CACHE": "~/mine"}, "/home/me/mine"),
    ],
)
def test_the_folder_follows_the_environment(environment, expected, monkeypatch):
    for name in ("PRIVATREE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    home = "USERPROFILE" if os.name == "nt" else "HOME"
    for name, value in {home: "/home/me", **environment}.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)
