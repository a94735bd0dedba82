"""What is public: kinds of features, ranges, categories, classes, CSV dialect.

::

    _schema.py         Numeric, Categorical and Schema; the schema's TOML file
    _value_checks.py   checks of the values in a schema
    _csv_dialect.py    how CSV files are written
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
