"""Every method that audits and tables compare, by its id.

::

    _method.py     what is known of a method: its name, its place in the tables, how to train it
    _registry.py   all of them
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
