"""PostgreSQL and MariaDB servers of a test's own: an empty folder, a socket in it, gone afterwards.

Nothing of a server that already runs on the machine is used or touched.
"""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

_PATIENCE = 300
"""Seconds until a server that neither answers nor ends is given up; one second is usual."""


@contextmanager
def postgresql() -> Iterator[Any]:
    """A connection of psycopg to a server that lives as long as the context."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)  # Debian's
    server = _program("postgresql", "postgres", folders)
    import psycopg

    with _folder("postgres") as (folder, user):
        data = folder / "data"
        made = [server.with_name("initdb"), "-D", data, "-U", "tests", "-A", "trust"]
        _run([*made, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"], user)
        command = [server, "-D", data, "-k", folder, "-c", "listen_addresses=", "-F"]
        where = {"host": str(folder), "user": "tests", "dbname": "postgres"}

        def connected() -> Any:
            with suppress(psycopg.OperationalError):  # not there, or not ready
                return psycopg.connect(**where, autocommit=True)
            return None

        with _running(command, user, signal.SIGQUIT, connected) as found:
            yield found


@contextmanager
def mariadb() -> Iterator[Any]:
    """A connection of PyMySQL to a server that lives as long as the context."""
    server = _program("mariadb-server", "mariadbd", [Path("/usr/sbin"), Path("/usr/libexec")])
    install = _program("mariadb-server", "mariadb-install-db", [Path("/usr/bin")])
    import pymysql

    with _folder("mysql") as (folder, user):
        data, path = folder / "data", folder / "socket"
        data.mkdir()
        shutil.chown(data, user or getpass.getuser())
        _run([install, "--no-defaults", f"--datadir={data}", "--skip-test-db",
              "--auth-root-authentication-method=normal"], user)  # fmt: skip
        command = [server, "--no-defaults", f"--datadir={data}", f"--socket={path}",
                   f"--pid-file={folder / 'pid'}", "--skip-networking",
                   "--innodb-flush-log-at-trx-commit=0"]  # fmt: skip

        def connected() -> Any:
            if _answers(path):  # PyMySQL leaves a socket open if nothing does
                return pymysql.connect(unix_socket=str(path), user="root", autocommit=True)
            return None

        with _running(command, user, signal.SIGTERM, connected) as found:
            yield found


def _program(package: str, name: str, folders: Sequence[Path]) -> Path:
    """Where a program is; without it the test is skipped, but not in continuous integration."""
    places = os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])
    if found := shutil.which(name, path=places):
        return Path(found)
    lacking = f"there is no {name}: apt-get install {package}."
    if os.environ.get("CI") == "true":
        pytest.fail(lacking)
    pytest.skip(lacking)


@contextmanager
def _folder(owner: str) -> Iterator[tuple[Path, str | None]]:
    """A folder with a short name, as sockets need, and who must run the server: never root."""
    user = _who(owner) if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="privatree-", dir="/tmp"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        yield folder, user
    finally:
        shutil.rmtree(folder)


def _who(owner: str) -> str:
    """The user that the package made, or the one without rights."""
    known = {entry.pw_name for entry in pwd.getpwall()}
    return owner if owner in known else "nobody"


def _as(user: str | None) -> dict[str, Any]:
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def _run(command: Sequence[Any], user: str | None) -> None:
    done = subprocess.run([*map(str, command)], cwd="/", capture_output=True, **_as(user))
    if done.returncode:
        pytest.fail(f"{command[0]} failed: {(done.stderr or done.stdout).decode()}")


@contextmanager
def _running(
    command: Sequence[Any],
    user: str | None,
    stop: signal.Signals,
    connected: Callable[[], Any],
) -> Iterator[Any]:
    """Start a server, wait until it answers, and stop it in the end."""
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [*map(str, command)],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # an interrupt of the tests must not reach it first
            **_as(user),
        )
        try:
            connection = _first_answer(server, connected, log)
            yield connection
            connection.close()
        finally:
            if server.poll() is None:
                server.send_signal(stop)
            server.wait()


def _first_answer(
    server: subprocess.Popen[bytes],
    connected: Callable[[], Any],
    log: Any,
) -> Any:
    deadline = time.monotonic() + _PATIENCE
    while (connection := connected()) is None:
        if server.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            pytest.fail(f"{server.args[0]} did not start: {log.read().decode()}")
        time.sleep(0.05)
    return connection


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as opened:
        return opened.connect_ex(str(path)) == 0
