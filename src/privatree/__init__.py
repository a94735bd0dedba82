"""Decision trees on sensitive tabular data with differential privacy.

The files at the top of the package are the way the data flows; folders are everything around it::

    schema.py         what is public: kinds, ranges, categories, classes (schema_values.py: what
                      may stand there; csv_dialect.py: how CSV files are written;
                      schema_draft.py: a draft to edit)
    sources/          where records live (frames, files, Spark), how they become codes, and passes
                      that count those which are not in memory
    candidates.py     where splits may cut, and how likely each is beforehand
    counts.py         exact class counts: what a learner may ask, and records in memory that answer
                      (count_kernels.py: compiled, the only code that walks over coded records)
    record_tree.py    our learner, private for whole records; its parts:
      record_plan.py    what comes next at a node, and its budget, from released values
      boxes.py          which candidates a node still has
      upper_split.py    one split near the root
      block.py          the last levels with their labels (block_weights.py: compiled;
                        block_precisely.py: in arbitrary precision, for the rare close call)
    paper_tree.py     the paper's Algorithm 1, as printed (paper_budget.py, gini.py: its parts)
    tree_building.py  from single nodes to a tree, split by split
    tree.py           the released tree: frozen arrays, checked
    prediction.py     where many records go: the tree packed for a compiled kernel
                      (compiling.py: how the loops over records are compiled; kernel_folder.py:
                      where that is kept; cache_folder.py: the user's folder for such things;
                      compile_notice.py: says so when it takes a while)
    tree_json.py      the tree as a list of nodes that a person can read, and back
    release.py        what is published: tree, schema and privacy statement; its file
                      (json_files.py, toml_files.py: files of strangers, read with care;
                      atomic_files.py: ours, written whole or not at all)
    model.py          the same as a fitted classifier of scikit-learn: what load returns
    estimators.py     the classifier a scikit-learn user sees (paper_estimator.py: the paper's;
                      estimator_base.py: what they share)

    privacy/          randomness, samplers, mechanisms, ledger, budgets, statement
    baselines/        other published private trees, one a file, with what they really guarantee
    repetition/       training again and again, and what that shows with confidence
    robustness/       what poisoned records cannot do: certificates, votes of partitions, attacks
    audit/            exact privacy loss by enumeration; lower bounds for any learner by training
    export/           a tree as text, drawing, SQL, ONNX and more (plotting.py: what plots share)
    report/           a model as one page to publish, and as a model card
    datasets/         five public datasets, bundled
    experiments/      the paper's tables and figures: datasets, methods, runner, targets
    cli/              the command line, one command a file
    errors.py         every exception and warning (near_names.py: what somebody may have meant;
                      visible_text.py: texts of strangers, fit for a screen; extras.py: how to
                      install what is missing)

Names are loaded when they are first used, so that ``import privatree`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from privatree.errors import (
    BudgetExceededError,
    BudgetStoreError,
    CertificateError,
    DatasetMissingError,
    ModelFormatError,
    PaperClaimWarning,
    ParameterError,
    PrivacyLeakWarning,
    PrivatreeError,
    SchemaError,
    SourceError,
)

if TYPE_CHECKING:
    from privatree import audit, baselines, datasets, export, privacy, report, robustness, sources
    from privatree.csv_dialect import CsvDialect
    from privatree.estimators import PrivaTreeClassifier
    from privatree.export import export_text, plot_budget, plot_tree
    from privatree.model import Model, load
    from privatree.paper_estimator import PaperPrivaTreeClassifier
    from privatree.schema import Categorical, Numeric, Schema
    from privatree.sources.schema_check import SchemaCheck

__version__ = "0.1.0"

__all__ = [
    "BudgetExceededError",
    "BudgetStoreError",
    "Categorical",
    "CertificateError",
    "CsvDialect",
    "DatasetMissingError",
    "Model",
    "ModelFormatError",
    "Numeric",
    "PaperClaimWarning",
    "PaperPrivaTreeClassifier",
    "ParameterError",
    "PrivaTreeClassifier",
    "PrivacyLeakWarning",
    "PrivatreeError",
    "Schema",
    "SchemaCheck",
    "SchemaError",
    "SourceError",
    "__version__",
    "audit",
    "baselines",
    "datasets",
    "export",
    "export_text",
    "load",
    "plot_budget",
    "plot_tree",
    "privacy",
    "report",
    "robustness",
    "sources",
]

_HOME = {
    "Categorical": "privatree.schema",
    "CsvDialect": "privatree.csv_dialect",
    "Model": "privatree.model",
    "Numeric": "privatree.schema",
    "PaperPrivaTreeClassifier": "privatree.paper_estimator",
    "PrivaTreeClassifier": "privatree.estimators",
    "Schema": "privatree.schema",
    "SchemaCheck": "privatree.sources.schema_check",
    "export_text": "privatree.export",
    "load": "privatree.model",
    "plot_budget": "privatree.export",
    "plot_tree": "privatree.export",
}
_PACKAGES = (
    "audit",
    "baselines",
    "datasets",
    "export",
    "privacy",
    "report",
    "robustness",
    "sources",
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"privatree.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'privatree' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
