"""``python -m privatree`` is the ``privatree`` program."""

from privatree.cli import main

if __name__ == "__main__":  # not when a process of an experiment imports it
    main()
