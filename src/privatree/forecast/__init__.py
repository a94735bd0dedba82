"""What privacy will probably cost, from other data, before anything is spent.

::

    _setting.py       what a forecast is for: public facts, and their checks
    _bundled.py       the public datasets of the package, thinned to as many records
    _made_up.py       tables of made-up records with the same public facts
    _trainings.py     one training with privacy and one without, and their scores
    _forecast.py      all trainings, in several processes; results from the cache
    _result.py        the result: what privacy cost on each table, and what to expect
    _forecast_text.py the result as text
    _forecast_plot.py the result as a picture
    _cache.py         results of earlier calls, in the user's cache folder
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
