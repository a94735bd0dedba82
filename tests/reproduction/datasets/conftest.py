"""No test here touches the network or the user's own cache folder."""

import socket

import pytest

from privatree.reproduction.datasets._dataset import PaperDataset


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    folder = tmp_path / "home" / "cache"
    monkeypatch.setenv("PRIVATREE_CACHE", str(folder))
    return folder


@pytest.fixture
def tiny():
    """A dataset of seven rows; what the tests call OpenML has eight, one with a gap."""
    return PaperDataset(
        name="tiny",
        title="tiny",
        suite="mixed",
        openml_id=61,
        n_records=7,
        n_features=3,
        n_categorical=1,
        majority_share=0.571,
    )
