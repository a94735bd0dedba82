"""Functions compiled by numba, and where they are kept.

::

    compiling.py        how functions are compiled
    kernel_folder.py    the folder that keeps them, another one for other code
    compile_notice.py   a line on stderr while it takes long
"""
