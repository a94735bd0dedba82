"""A Spark cluster of one master and two workers, each a process of its own on this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_SECONDS_TO_START = 60
_QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m")
_OPTIONS = ("-Dspark.master.rest.enabled=false", "-Dspark.worker.timeout=10")


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

    def start(self, n_workers: int = 2, cores: int = 1) -> None:
        """Start the master, then the workers all at once; return when they are registered."""
        log = self._start("master", "master.Master", "--port", "0")
        self.url = _waited_for(log, r"Starting Spark master at (spark://\S+)")
        for log in [self._start_worker(cores) for _ in range(n_workers)]:
            _waited_for(log, r"Successfully registered with master")

    def add_worker(self, cores: int = 1) -> None:
        """Start one more worker."""
        _waited_for(self._start_worker(cores), r"Successfully registered with master")

    def kill_worker(self, place: int) -> None:
        """Kill a worker, its executors and their Python processes at once, as a lost machine is."""
        os.killpg(self.workers[place].pid, signal.SIGKILL)
        self.workers[place].wait()

    def stop(self) -> None:
        """Kill every process that was started, and those that they started."""
        for process in reversed(self._processes):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()

    def _start_worker(self, cores: int) -> Path:
        name = f"worker{len(self.workers)}"
        log = self._start(
            name, "worker.Worker", "--cores", str(cores), "--memory", f"{self.executor_memory}M",
            "--work-dir", str(self.folder / name), self.url,
        )  # fmt: skip
        self.workers.append(self._processes[-1])
        return log

    def _start(self, name: str, program: str, *arguments: str) -> Path:
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
        log = self.folder / f"{name}.log"
        # Not through Spark's own script, which starts a second Java only to find these arguments.
        command = [
            java(), *_QUICK_START, *_OPTIONS, f"-Djava.io.tmpdir={local}", "-cp",
            str(home / "jars" / "*"), f"org.apache.spark.deploy.{program}",
            "--host", "127.0.0.1", "--webui-port", "0", *arguments,
        ]  # fmt: skip
        with log.open("wb") as output:
            self._processes.append(
                subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.STDOUT, start_new_session=True,
                )
            )  # fmt: skip
        return log


@contextmanager
def running_cluster(folder: Path, **how: int) -> Iterator[Cluster]:
    """Start a cluster; end all of it, whatever happens."""
    cluster = Cluster(folder, **how)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def java() -> str:
    """Where Java is, or nothing."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None) or ""


def _scala_version(home: Path) -> str:
    (core,) = (home / "jars").glob("spark-core_*.jar")
    return core.name.removeprefix("spark-core_").partition("-")[0]


def _waited_for(log: Path, pattern: str) -> str:
    """The first group of a pattern, as soon as a log has it."""
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text(encoding="utf-8", errors="replace")):
            return found[found.lastindex or 0]
        time.sleep(0.05)
    raise TimeoutError(f"{log.name} did not get to {pattern!r}: {log.read_text()[-2000:]}")
