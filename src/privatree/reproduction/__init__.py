"""The paper's tables and figures, from one command.

::

    datasets/       the paper's datasets
    loading/        where the records come from: a folder, the package, a cache or OpenML
    running/        tasks, their results, and the record of what made them
    rendering/      results as tables and figures
    targets/        one file for each table or figure of the paper
    _published.py   the figures that the paper printed, from published/*.csv
"""
