"""What is mutated, how it is read, and what must work with whatever was read."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzzing import byte_mutations, json_mutations, starting_files, toml_mutations
from privatree import export_text, load
from privatree.errors import ModelFormatError, ParameterError, PrivatreeError, SchemaError
from privatree.model import EnsembleModel, Model
from privatree.robustness import (
    AccuracyCertificate,
    AttackSuccessCertificate,
    PredictionCertificates,
)
from privatree.robustness.poisoning_bounds import _bounds as certificates
from privatree.schema import Categorical, Schema
from privatree.tables import read_features


@dataclass(frozen=True)
class FileKind:
    """Files that one function reads.

    Parameters
    ----------
    name : str
        Of the kind.
    suffix : str
        Of the files.
    share : int
        Of ten files, so many are of this kind.
    write_starting_files : callable
        Writes whole files into a folder.
    mutate : callable
        From a file, another one and chance to a mutated file.
    load : callable
        From a path, and the name of the file that was mutated, to what the file says.
    refusal : type
        The error that says that a file is not of the kind.
    use : callable
        Does with what was read, in a folder of its own, what a user would do.
    """

    name: str
    suffix: str
    share: int
    write_starting_files: Callable[[Path], None]
    mutate: Callable[[bytes, bytes, random.Random], bytes]
    load: Callable[[Path, str], Any]
    refusal: type[PrivatreeError]
    use: Callable[[Any, Path], None]


class NotTheSameError(Exception):
    """An object that was loaded, saved and loaded again differs from the first."""


def _some_rows(schema: Schema) -> np.ndarray[Any, Any]:
    """Return rows with missing values, unknown categories, numbers out of range, and valid rows."""
    columns = [
        [None, "unknown", feature.categories[0], feature.categories[-1]]
        if isinstance(feature, Categorical)
        else [math.nan, math.inf, feature.low, feature.high]
        for feature in schema.features.values()
    ]
    rows = np.empty((4, len(columns)), dtype=object)
    for place, column in enumerate(columns):
        rows[:, place] = column
    return rows


def _use_model(model: Model | EnsembleModel, folder: Path) -> None:
    rows = _some_rows(model.schema_)
    predicted = model.predict(rows).tolist()
    shares = model.predict_proba(rows)
    if not set(predicted) <= set(model.classes_.tolist()):
        raise NotTheSameError("a prediction is not a class.")
    if isinstance(model, Model) and (model.tree_.feature[model.apply(rows)] >= 0).any():
        raise NotTheSameError("a prediction is not of a leaf.")
    if not np.allclose(shares.sum(axis=1), 1.0):
        raise NotTheSameError("probabilities do not add up to 1.")
    if isinstance(model, EnsembleModel):
        _use_terms(model, rows)
    export_text(model)
    str(model.privacy_)
    model.save(folder / "again.json")
    if load(folder / "again.json") != model:
        raise NotTheSameError("the model is another one after saving and loading.")


def _use_terms(model: EnsembleModel, rows: np.ndarray[Any, Any]) -> None:
    try:
        terms = model.terms()
    except ParameterError as error:  # functions that a person would not train
        if "no more than 3 features" in str(error):
            return
        raise
    if not np.allclose(terms.decision_function(rows), model.decision_function(rows)):
        raise NotTheSameError("the terms do not add up to the score.")


def _use_schema(schema: Schema, folder: Path) -> None:
    hash(schema)
    read_features(_some_rows(schema), schema)
    schema.to_toml(folder / "again.toml")
    if Schema.from_toml(folder / "again.toml") != schema:
        raise NotTheSameError("the schema is another one after writing and reading.")


_READERS: dict[str, Any] = {
    "accuracy": AccuracyCertificate,
    "success": AttackSuccessCertificate,
    "predictions": PredictionCertificates,
}


def _load_certificate(path: Path, name: str) -> Any:
    certificates._trade_off_of_edits.cache_clear()  # results of earlier files must not help
    return _READERS[name.partition("-")[0]].load(path)


def _use_certificate(certificate: Any, folder: Path) -> None:
    text = str(certificate)
    certificate.table()
    certificate.save(folder / "again.json")
    if str(type(certificate).load(folder / "again.json")) != text:
        raise NotTheSameError("the certificate is another one after saving and loading.")


def _mutate_model(contents: bytes, other: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.3:
        return byte_mutations.mutated(contents, other, rng)
    actions = (*json_mutations.ANYWHERE, *json_mutations.OF_MODELS)
    return json_mutations.mutated(contents, actions, rng)


def _mutate_schema(contents: bytes, other: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.3:
        return byte_mutations.mutated(contents, other, rng)
    return toml_mutations.mutated(contents, rng)


def _mutate_certificate(contents: bytes, other: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.3:
        return byte_mutations.mutated(contents, other, rng)
    actions = (
        *json_mutations.ANYWHERE,
        json_mutations.change_spends,
        json_mutations.change_schedule,
    )
    return json_mutations.mutated(contents, actions, rng)


KINDS = (
    FileKind(
        "models", ".json", 6, starting_files.write_models, _mutate_model,
        lambda path, _: load(path), ModelFormatError, _use_model,
    ),
    FileKind(
        "schemas", ".toml", 3, starting_files.write_schemas, _mutate_schema,
        lambda path, _: Schema.from_toml(path), SchemaError, _use_schema,
    ),
    FileKind(
        "certificates", ".json", 1, starting_files.write_certificates, _mutate_certificate,
        _load_certificate, ModelFormatError, _use_certificate,
    ),
)  # fmt: skip
