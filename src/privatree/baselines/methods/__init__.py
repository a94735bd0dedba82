"""Every method that audits and tables compare, by its id.

::

    _method.py     a method: its name, its place in the tables, its classifier
    _survey.py     the published methods of the paper's table of related work
    _registry.py   the list of all methods
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
