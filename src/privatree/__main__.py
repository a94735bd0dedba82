"""``python -m privatree`` is the ``privatree`` program."""

from privatree.cli import main

if __name__ == "__main__":  # not when a worker process imports it
    main()
