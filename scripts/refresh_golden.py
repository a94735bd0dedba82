"""Write the files of ``tests/golden`` anew. Read the difference before you keep it."""

import shutil
import sys
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))

from cases import CASES, text  # noqa: E402 - it is found by the path above
from rendered import REQUESTS, rendered  # noqa: E402


def main() -> None:
    _write(GOLDEN / "files", {name: text(name) for name in CASES})
    for target in REQUESTS:
        _write(GOLDEN / "reproduction" / target, rendered(target))


def _write(folder: Path, files: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
