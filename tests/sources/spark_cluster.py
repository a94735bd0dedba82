"""A Spark cluster of one master and two workers, each a process of its own on this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_SECONDS_TO_START = 600
_QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m")
_OPTIONS = ("-Dspark.master.rest.enabled=false",)


@dataclass
class Cluster:
    """Processes that make a cluster.

    Parameters
    ----------
    folder : Path
        Where they log and keep what executors write.
    executor_memory : int
        Megabytes of each worker's one executor.
    """

    folder: Path
    executor_memory: int = 512
    url: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _warden: subprocess.Popen[bytes] = field(default_factory=lambda: _started_warden())

    def start(self, n_workers: int = 2, cores: int = 1) -> None:
        """Start the master, then the workers, which register while the caller goes on."""
        master = self._start("master", "master.Master", "--port", "0")
        self.url = self._said(master, r"Starting Spark master at (spark://\S+)")
        for _ in range(n_workers):
            self.start_worker(cores)

    def start_worker(self, cores: int = 1) -> None:
        """Start one more worker, also in the place of one that was killed."""
        name = f"worker{len(self.workers)}"
        self.workers.append(
            self._start(
                name, "worker.Worker", "--cores", str(cores),
                "--memory", f"{self.executor_memory}M",
                "--work-dir", str(self.folder / name), self.url,
            )
        )  # fmt: skip

    def kill_worker(self, place: int) -> None:
        """Kill a worker, its executors and their Python processes at once, as a lost machine is."""
        os.killpg(self.workers[place].pid, signal.SIGKILL)
        self.workers[place].wait()

    def stop(self) -> None:
        """Kill every process that was started, and those that they started."""
        if self._warden.stdin is not None:
            self._warden.stdin.close()
        for process in [self._warden, *self._processes]:
            process.wait()

    def _start(self, name: str, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a part of the cluster in a group of its own, which its executors join."""
        import pyspark

        home = Path(pyspark.__file__).parent
        local = self.folder / f"{name}-local"
        local.mkdir(parents=True)
        environment = os.environ | {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(local),
            "SPARK_SCALA_VERSION": _scala_version(home),
        }
        # Not through Spark's own script, which starts a second Java only to find these arguments.
        command = [
            java(), *_QUICK_START, *_OPTIONS, f"-Djava.io.tmpdir={local}", "-cp",
            str(home / "jars" / "*"), f"org.apache.spark.deploy.{program}",
            "--host", "127.0.0.1", "--webui-port", "0", *arguments,
        ]  # fmt: skip
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        if self._warden.stdin is not None:
            self._warden.stdin.write(f"{process.pid}\n".encode())
            self._warden.stdin.flush()
        return process

    def _said(self, process: subprocess.Popen[bytes], pattern: str) -> str:
        """The first group of a pattern, as soon as the master's log has it."""
        log = self.folder / "master.log"
        end = time.monotonic() + _SECONDS_TO_START
        while time.monotonic() < end and process.poll() is None:
            if found := re.search(pattern, log.read_text(encoding="utf-8", errors="replace")):
                return found[1]
            time.sleep(0.05)
        raise RuntimeError(f"the master did not start: {log.read_text()[-2000:]}")


@contextmanager
def running_cluster(folder: Path, **how: int) -> Iterator[Cluster]:
    """Start a cluster; end all of it, whatever happens."""
    cluster = Cluster(folder, **how)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def _started_warden() -> subprocess.Popen[bytes]:
    """Kills the groups of processes whose numbers it reads, when there are no more to come.

    So they end even if whoever started them is killed.
    """
    program = """import os, sys
for number in sys.stdin.read().split():
    try:
        os.killpg(int(number), 9)
    except ProcessLookupError:
        pass
"""
    return subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, start_new_session=True
    )


def java() -> str:
    """Where Java is, or nothing."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None) or ""


def _scala_version(home: Path) -> str:
    (core,) = (home / "jars").glob("spark-core_*.jar")
    return core.name.removeprefix("spark-core_").partition("-")[0]
