"""Functions compiled by numba.

::

    compiling.py        decorators that compile functions
    kernel_folder.py    the folder of compiled functions on disk
    compile_notice.py   a line on stderr while functions are compiled
"""
