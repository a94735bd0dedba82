"""``python -m privatree`` is the ``privatree`` program."""

from privatree.cli import main

main()
