"""What poisoned records can and cannot do: certificates, partition aggregation, attacks.

::

    poisoning_bounds/   what a privacy guarantee promises against poisoned records
    certificates/       certificates for a learner and its data
    dpa/                deep partition aggregation, another defence, without privacy
    attacks/            attacks that poison training records
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
