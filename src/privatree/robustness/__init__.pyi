from privatree.robustness.attacks._art import art_classifier
from privatree.robustness.attacks._attacks import (
    BackdoorAttack,
    InsertionAttack,
    LabelFlipAttack,
    PoisonedData,
)
from privatree.robustness.certificates._certificate import (
    AccuracyCertificate,
    AttackSuccessCertificate,
    ErrorCertificate,
)
from privatree.robustness.certificates._certify import (
    accuracy_certificate,
    attack_success_certificate,
    claimed_accuracy_certificate,
    prediction_certificates,
)
from privatree.robustness.certificates._certify_numbers import (
    error_certificate,
    prediction_intervals,
)
from privatree.robustness.certificates._intervals import PredictionIntervals
from privatree.robustness.certificates._predictions import PredictionCertificates
from privatree.robustness.dpa._classifier import DPAClassifier
from privatree.robustness.poisoning_bounds._bounds import EpsilonDP, best, bounds

__all__ = [
    "AccuracyCertificate",
    "AttackSuccessCertificate",
    "BackdoorAttack",
    "DPAClassifier",
    "EpsilonDP",
    "ErrorCertificate",
    "InsertionAttack",
    "LabelFlipAttack",
    "PoisonedData",
    "PredictionCertificates",
    "PredictionIntervals",
    "accuracy_certificate",
    "art_classifier",
    "attack_success_certificate",
    "best",
    "bounds",
    "claimed_accuracy_certificate",
    "error_certificate",
    "prediction_certificates",
    "prediction_intervals",
]
