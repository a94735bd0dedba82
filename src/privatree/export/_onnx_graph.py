"""A model as an ONNX graph, whose predictions equal those of ``predict`` to the last bit.

LabelEncoder turns categories into codes, and Gather turns codes into a 0 or 1 for each question.
IsNaN answers whether a number is missing. These columns and the numeric columns are the input of
one TreeEnsembleRegressor with double thresholds, whose output is the position of a leaf. Gather
then looks up the leaf's label and probabilities. onnx is an extra, and is imported when it is used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.extras import missing_extra
from privatree.errors import ParameterError
from privatree.model import Tree, released_model
from privatree.schema import Categorical, Label

_STATEMENT_KEY = "privatree.privacy"
"""Metadata key of the privacy statement, which is stored as JSON."""

_IR_VERSION, _OPSET, _ML_OPSET = 8, 18, 4  # the oldest with LabelEncoder on doubles
_ML = "ai.onnx.ml"
_OUTPUTS = ("label", "probabilities")
_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1


def export_onnx(model: Any) -> bytes:
    """Write a model as ONNX, for onnxruntime and other runtimes.

    Parameters
    ----------
    model : Model or fitted classifier
        Model to write.

    Returns
    -------
    bytes
        Content of an ``.onnx`` file. The inputs are the columns of the schema, each of shape
        (records, 1): strings for text categories, doubles for all other columns. The outputs are
        ``label`` of shape (records,) and ``probabilities`` of shape (records, classes). If a column
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
    released = released_model(model)
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise missing_extra("ONNX needs onnx", "onnx") from error
    from privatree import __version__

    graph = _OnnxTreeGraph(released.tree_).build_graph()
    written = helper.make_model(
        graph,
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_ML, _ML_OPSET)],
        producer_name="privatree",
        producer_version=__version__,
    )
    helper.set_model_props(written, {_STATEMENT_KEY: json.dumps(released.privacy_.to_dict())})
    checker.check_model(written, full_check=True)
    return bytes(written.SerializeToString())


class _OnnxTreeGraph:
    """Builder of the ONNX graph of a tree. Its helpers return the names of ONNX values."""

    def __init__(self, tree: Tree) -> None:
        import onnx

        self.onnx, self.tree = onnx, tree
        self.features = list(tree.schema.features.items())
        if "" in tree.schema.features:
            raise ParameterError(
                "ONNX needs column names of at least one character, got an empty name. "
                "Rename the column."
            )
        self.prefix = "privatree"
        while any(n.startswith(self.prefix) for n in (*tree.schema.names, *_OUTPUTS)):
            self.prefix += "_"
        self.nodes, self.constants = list[onnx.NodeProto](), list[onnx.TensorProto]()

    def build_graph(self) -> Any:
        outputs = list(_OUTPUTS)
        for i in range(len(outputs)):
            while outputs[i] in self.tree.schema.features:
                outputs[i] += "_"
        leaves = self.tree.leaves
        leaf = self._add_tree(leaves)
        labels = _onnx_label_array(self.tree.schema.classes)
        if self.tree.probability is not None:
            shares = self.tree.probability[leaves]
        else:
            shares = np.zeros((len(leaves), len(labels)))
            shares[np.arange(len(leaves)), self.tree.label[leaves]] = 1.0
        tables = labels[self.tree.label[leaves]], shares
        for output, table in zip(outputs, tables, strict=True):
            self._add_node("Gather", [self._add_constant(table), leaf], [output], axis=0)
        return self.onnx.helper.make_graph(
            self.nodes,
            "privatree",
            [self._graph_value(name, _onnx_type(feature), 1) for name, feature in self.features],
            [
                self._graph_value(name, table.dtype, *table.shape[1:])
                for name, table in zip(outputs, tables, strict=True)
            ],
            initializer=self.constants,
        )

    def _add_tree(self, leaves: NDArray[np.intp]) -> str:
        """Add the tree. Its output is the position of each record's leaf among the leaves."""
        if self.tree.n_nodes == 1:
            shape = self._add_node("Shape", [self.features[0][0]], start=0, end=1)
            zero = self.onnx.numpy_helper.from_array(np.array([0]))
            return self._add_node("ConstantOfShape", [shape], value=zero)
        columns, column_of = self._add_columns()
        is_split = self.tree.feature >= 0
        found = self._add_node(
            "TreeEnsembleRegressor",
            [self._add_node("Concat", columns, axis=1)],
            domain=_ML,
            n_targets=1,
            nodes_treeids=[0] * self.tree.n_nodes,
            nodes_nodeids=list(range(self.tree.n_nodes)),
            nodes_modes=np.where(is_split, "BRANCH_LEQ", "LEAF").tolist(),
            nodes_featureids=column_of,
            # The column of a question without a threshold is 0 for yes and 1 for no.
            nodes_values_as_tensor=self.onnx.numpy_helper.from_array(
                np.where(np.isfinite(self.tree.threshold), self.tree.threshold, 0.5)
            ),
            nodes_missing_value_tracks_true=[
                int(position >= 0 and self.tree.missing_goes_left(node))
                for node, position in enumerate(self.tree.feature.tolist())
            ],
            nodes_truenodeids=np.where(is_split, self.tree.left, 0).tolist(),
            nodes_falsenodeids=np.where(is_split, self.tree.right, 0).tolist(),
            target_treeids=[0] * len(leaves),
            target_nodeids=leaves.tolist(),
            target_ids=[0] * len(leaves),
            target_weights_as_tensor=self.onnx.numpy_helper.from_array(
                np.arange(float(len(leaves)))
            ),
        )
        return self._squeeze(self._add_node("Cast", [found], to=self.onnx.TensorProto.INT64))

    def _add_columns(self) -> tuple[list[str], list[int]]:
        """Add the input columns of the tree; return their names and the column of each node."""
        values, n_columns = list[str](), 0
        column_of = [0] * self.tree.n_nodes
        for position, nodes in self.tree.splits_by_feature().items():
            name, feature = self.features[position]
            if isinstance(feature, Categorical):
                masks = {node: ~self.tree.left_mask(node) for node in nodes}
                different = {mask.tobytes(): mask for mask in masks.values()}
                values.append(
                    self._add_answers(name, feature, np.column_stack([*different.values()]))
                )
                place = {key: n_columns + i for i, key in enumerate(different)}
                column_of_node = {node: place[mask.tobytes()] for node, mask in masks.items()}
                n_columns += len(different)
            else:
                about_missing = [node for node in nodes if self.tree.asks_missing(node)]
                column_of_node = dict.fromkeys(nodes, n_columns)
                if len(about_missing) < len(nodes):
                    values.append(name)
                    n_columns += 1
                if about_missing:
                    values.append(self._add_is_number(name))
                    column_of_node |= dict.fromkeys(about_missing, n_columns)
                    n_columns += 1
            for node, column in column_of_node.items():
                column_of[node] = column
        return values, column_of

    def _add_is_number(self, name: str) -> str:
        """Add a column with 0 for each missing number and 1 for every other number."""
        is_number = self._add_node("Not", [self._add_node("IsNaN", [name])])
        return self._add_node("Cast", [is_number], to=self.onnx.TensorProto.DOUBLE)

    def _add_answers(self, name: str, feature: Categorical, goes_right: NDArray[np.bool_]) -> str:
        """Add a column of 0 and 1 for each question. `goes_right` has a row per category code."""
        codes = np.arange(len(feature.categories))
        dtype, missing = _onnx_type(feature), feature.missing_place
        if dtype == np.dtype(object):
            encoding: dict[str, Any] = {
                "keys_strings": [str(category) for category in feature.categories],
                "values_int64s": codes.tolist(),
                "default_int64": missing,
            }
        else:
            arrays = {
                "keys_tensor": np.array(feature.categories, dtype=dtype),
                "values_tensor": codes,
                "default_tensor": np.array([missing]),
            }
            encoding = {
                key: self.onnx.numpy_helper.from_array(array) for key, array in arrays.items()
            }
        code = self._add_node("LabelEncoder", [name], domain=_ML, **encoding)
        answers = self._add_node(
            "Gather", [self._add_constant(goes_right), self._squeeze(code)], axis=0
        )
        return self._add_node("Cast", [answers], to=self.onnx.TensorProto.DOUBLE)

    def _add_node(
        self, kind: str, inputs: list[str], outputs: list[str] | None = None, **attributes: Any
    ) -> str:
        names = outputs or [f"{self.prefix}_value_{len(self.nodes)}"]
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, names, **attributes))
        return names[0]

    def _add_constant(self, values: NDArray[Any]) -> str:
        name = f"{self.prefix}_table_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def _graph_value(self, name: str, dtype: np.dtype[Any], *sizes: int) -> Any:
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return self.onnx.helper.make_tensor_value_info(name, kind, ["records", *sizes])

    def _squeeze(self, value: str) -> str:
        """Change the shape (records, 1) to (records,)."""
        return self._add_node("Squeeze", [value, self._add_constant(np.array([1]))])


# --- types --------------------------------------------------------------------------------------


def _onnx_type(feature: Any) -> np.dtype[Any]:
    """Return object for text, int64 for integers that doubles cannot represent, or float64."""
    if not isinstance(feature, Categorical):
        return np.dtype(np.float64)
    if isinstance(feature.categories[0], str):
        return np.dtype(object)
    return _onnx_number_type("categories", feature.categories)


def _onnx_label_array(labels: Sequence[Label]) -> NDArray[Any]:
    if isinstance(labels[0], str):
        return np.array(labels, dtype=object)
    if isinstance(labels[0], bool):
        return np.array(labels, dtype=np.bool_)
    all_integers = all(isinstance(label, int) for label in labels)
    return np.array(labels, dtype=_onnx_number_type("labels", labels, prefer_integers=all_integers))


def _onnx_number_type(
    what: str, numbers: Sequence[Label], *, prefer_integers: bool = False
) -> np.dtype[Any]:
    if not prefer_integers and all(_is_onnx_double(number) for number in numbers):
        return np.dtype(np.float64)
    if all(isinstance(number, int) and _MIN_INT <= number <= _MAX_INT for number in numbers):
        return np.dtype(np.int64)
    raise ParameterError(
        f"ONNX needs {what} that are all doubles or all 64-bit integers, got larger numbers "
        "or a mixture of both. Use text instead."
    )


def _is_onnx_double(number: Label) -> bool:
    is_in_range = not isinstance(number, str) and abs(number) <= sys.float_info.max
    return is_in_range and float(number) == number
