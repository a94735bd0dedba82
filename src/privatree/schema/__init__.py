"""The public facts about a dataset: features, ranges, categories, classes or target, CSV dialect.

::

    _schema.py         Schema and its TOML file
    _features.py       Numeric and Categorical
    _target.py         Target: the range of a number that is predicted
    _value_checks.py   checks of the values in a schema
    _csv_dialect.py    CsvDialect: how CSV files are written
    _about.py          About: title, target, description, use, owner and date
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
