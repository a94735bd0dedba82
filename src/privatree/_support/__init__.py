"""Helpers that know nothing of privacy or trees.

::

    kernels/           compiled functions and the folder that keeps them
    atomic_files.py    files written whole or not at all
    cache_folder.py    the user's folder for what can be made again
    escape.py          control and direction characters of untrusted text, escaped
    extras.py          how to install what is missing
    json_files.py      strict, size-limited loading of untrusted JSON
    lazy_names.py      names of a package that are loaded when they are first used
    plot_style.py      what plots share
    progress.py        progress on stderr: bars and a spinner
    redact_errors.py   errors of other libraries, without values of records
    suggestions.py     did-you-mean suggestions
    toml_files.py      TOML files: read with limits, written with comments
    validation.py      checks of parameters, whose errors name the parameter
"""
