"""The paper's tables and figures, from one command.

::

    datasets/                 the paper's datasets
    loading/                  from a folder, the package, a cache or OpenML
    running/                  tasks, their results and what they were made with
    rendering/                results as tables and figures
    targets/                  one table or figure of the paper each
    _published.py             the paper's figures
    _published_poisoning.py   those of its poisoning tables
"""
