"""A tree or an ensemble as an ONNX model. onnx is an extra, and is imported when it is used."""

from __future__ import annotations

import json
from typing import Any

from privatree._support.extras import missing_extra
from privatree.export.onnx_graph._ensemble_graph import EnsembleGraph
from privatree.export.onnx_graph._graph import ML
from privatree.export.onnx_graph._tree_graph import TreeGraph
from privatree.model import EnsembleRelease, released_any

_STATEMENT_KEY = "privatree.privacy"
"""Metadata key of the privacy statement, which is stored as JSON."""

_IR_VERSION, _OPSET, _ML_OPSET = 8, 18, 4  # the oldest with LabelEncoder on doubles


def export_onnx(model: Any) -> bytes:
    """Write a model as ONNX, for onnxruntime and other runtimes.

    Parameters
    ----------
    model : model or fitted learner
        Model to write.

    Returns
    -------
    bytes
        Content of an ``.onnx`` file. The inputs are the columns of the schema, each of shape
        (records, 1): strings for text categories, doubles for all other columns. The outputs are
        ``label`` of shape (records,) and ``probabilities`` of shape (records, classes), or
        ``prediction`` of shape (records,) with doubles if the model predicts a number. If a column
        has the name of an output, an underscore is added to the output. The metadata has the
        privacy statement as JSON under the key ``privatree.privacy``.

    Raises
    ------
    ParameterError
        If onnx is not installed, a column has an empty name, or a category or label is a number
        that is neither a 64-bit integer nor a double.

    Notes
    -----
    Pass a missing number as NaN. Pass a missing category as NaN if the categories are numbers or
    booleans (1 and 0), and as any other text, such as the empty text, if they are text. If some
    number categories are integers that doubles cannot represent, the input has 64-bit integers, and
    any integer that is not a category counts as missing.

    Labels and numbers are those of ``predict``, for every input. The probabilities of a tree are
    those of ``predict_proba`` to the last bit; those of an ensemble are computed by the runtime,
    and may differ in the last digits of a double.

    Examples
    --------
    >>> import onnxruntime
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> session = onnxruntime.InferenceSession(export_onnx(model.fit(X, y)))
    >>> feeds = {name: X[[name]][:2].to_numpy(dtype=float) for name in X}  # text: dtype=str
    >>> session.run(["label"], feeds)
    [array(['benign', 'malignant'], dtype=object)]
    """
    released = released_any(model)
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise missing_extra("ONNX needs onnx", "onnx") from error
    from privatree import __version__

    if isinstance(released, EnsembleRelease):
        graph = EnsembleGraph(released.ensemble_).build_graph()
    else:
        graph = TreeGraph(released.tree_).build_graph()
    written = helper.make_model(
        graph,
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(ML, _ML_OPSET)],
        producer_name="privatree",
        producer_version=__version__,
    )
    helper.set_model_props(written, {_STATEMENT_KEY: json.dumps(released.privacy_.to_dict())})
    checker.check_model(written, full_check=True)
    return bytes(written.SerializeToString())
