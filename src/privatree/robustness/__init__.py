"""What poisoned records can and cannot do: certificates, votes of partitions, attacks.

``certificates.py`` has the bounds and ``optimal_bound.py`` the best of them; ``estimation.py`` gets
from a learner and its data to a certificate: ``preconditions.py`` refuses what would not hold, and
``curve.py`` and ``predictions.py`` are what comes out. ``partition_aggregation.py`` is another
defence, without privacy. ``attacks.py`` poisons, and ``art.py`` lets others do so.

Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privatree.robustness.art import art_classifier
    from privatree.robustness.attacks import (
        BackdoorAttack,
        InsertionAttack,
        LabelFlipAttack,
        PoisonedData,
    )
    from privatree.robustness.certificates import EpsilonDP, best, bounds
    from privatree.robustness.curve import AccuracyCertificate, AttackSuccessCertificate
    from privatree.robustness.estimation import (
        accuracy_certificate,
        attack_success_certificate,
        claimed_accuracy_certificate,
        prediction_certificates,
    )
    from privatree.robustness.partition_aggregation import DPAClassifier
    from privatree.robustness.predictions import PredictionCertificates

__all__ = [
    "AccuracyCertificate",
    "AttackSuccessCertificate",
    "BackdoorAttack",
    "DPAClassifier",
    "EpsilonDP",
    "InsertionAttack",
    "LabelFlipAttack",
    "PoisonedData",
    "PredictionCertificates",
    "accuracy_certificate",
    "art_classifier",
    "attack_success_certificate",
    "best",
    "bounds",
    "claimed_accuracy_certificate",
    "prediction_certificates",
]

_HOME = {
    "AccuracyCertificate": "curve",
    "AttackSuccessCertificate": "curve",
    "BackdoorAttack": "attacks",
    "DPAClassifier": "partition_aggregation",
    "EpsilonDP": "certificates",
    "InsertionAttack": "attacks",
    "LabelFlipAttack": "attacks",
    "PoisonedData": "attacks",
    "PredictionCertificates": "predictions",
    "accuracy_certificate": "estimation",
    "art_classifier": "art",
    "attack_success_certificate": "estimation",
    "best": "certificates",
    "bounds": "certificates",
    "claimed_accuracy_certificate": "estimation",
    "prediction_certificates": "estimation",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"privatree.robustness.{_HOME[name]}"), name)
    raise AttributeError(f"module 'privatree.robustness' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
