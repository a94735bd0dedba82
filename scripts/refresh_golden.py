"""Write the files of ``tests/golden`` anew. Read the difference before you keep it."""

import sys
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))

from cases import CASES, text  # noqa: E402 - it is found by the path above


def main() -> None:
    for old in (GOLDEN / "files").iterdir():
        old.unlink()
    for name in CASES:
        (GOLDEN / "files" / name).write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
