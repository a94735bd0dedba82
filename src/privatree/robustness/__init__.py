"""What poisoned records can and cannot do: certificates, votes of partitions, attacks.

::

    poisoning_bounds/   what a privacy guarantee promises against poisoned records
    certificates/       from a learner and its data to a certificate
    dpa/                votes of partitions: another defence, without privacy
    attacks/            attacks that poison
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
