"""Helpers that do not depend on privacy or trees.

::

    kernels/           functions compiled by numba, and the folder on disk that keeps them
    atomic_files.py    files that are written completely or not at all
    cache_folder.py    the user's folder for downloads and compiled functions
    escape.py          escapes for invisible characters in untrusted text
    extras.py          the error for an optional dependency that is not installed
    json_files.py      strict, size-limited reading of untrusted JSON
    lazy_names.py      names of a package that are loaded when they are first used
    plot_style.py      colours and axes of plots
    progress.py        progress bars and spinners on stderr
    redact_errors.py   errors of other libraries, without values of records
    suggestions.py     did-you-mean suggestions
    toml_files.py      TOML files: size-limited reading, writing with comments
    validation.py      checks of parameters
"""
