"""Decision trees on sensitive tabular data with differential privacy.

A folder is a stage, and uses those above it::

    privacy/        randomness, samplers, mechanisms, ledger, budgets, statement
    schema/         what is public: features, classes or a numeric target, CSV dialect
    tables/         any container (numpy, pandas, polars, Arrow) to typed columns
    counting/       records to bins, bins to exact counts
    sources/        where records live: memory, CSV, Parquet, Arrow, Spark
    inspection/     not private, for the owner: infer, draft and check a schema
    model/          what is released: tree, prediction, file
    learners/       the algorithms; they see counts, never records
    evaluation/     how good a released model is, privately
    estimators/     the scikit-learn classifiers and regressors

These use the estimators or what they release, or serve all stages::

    baselines/      other people's learners, with what they really guarantee
    repetition/     training many times, and confidence bounds for what that shows
    robustness/     what poisoned records can and cannot do
    audit/          the real privacy loss: exact by enumeration, or bounded by training
    export/         a tree as text, drawing, SQL, ONNX, scikit-learn tree
    report/         a model as one page to publish, and as a model card
    datasets/       five public datasets, bundled
    reproduction/   the paper's tables and figures
    cli/            the command line
    errors.py       every exception and warning
    _support/       helpers that know nothing of privacy or trees

Import from a folder, never from a module in it: ``__init__.pyi`` lists what a folder offers, and
names are loaded when they are first used. ``docs/architecture.md`` has the rules.
"""

from privatree._support.lazy_names import lazy_names

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_names(__name__)
