"""A tree as an ONNX model, whose predictions are those of ``predict`` to the last bit.

The graph: text and number categories become their codes (LabelEncoder), and codes become a 0 or 1
for each question about them (Gather); beside the numeric columns they are the input of one tree
with double thresholds (TreeEnsembleRegressor), whose result is the position of a leaf; label and
probabilities are looked up by it (Gather). onnx is an extra: it is loaded when a model is exported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.extras import missing_extra
from privatree.errors import ParameterError
from privatree.model import Tree, released_model
from privatree.schema import Categorical, Label, Schema

STATEMENT = "privatree.privacy"
"""The key of the model's metadata whose value is the privacy statement as JSON."""

_IR_VERSION, _OPSET, _ML_OPSET = 8, 18, 4  # what LabelEncoder on doubles needs, and no newer
_ML = "ai.onnx.ml"
_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1


def export_onnx(model: Any) -> bytes:
    """Write a model as ONNX, for onnxruntime and other runtimes.

    Parameters
    ----------
    model : Model or fitted classifier
        What to write.

    Returns
    -------
    bytes
        The content of an ``.onnx`` file. Its inputs are the columns of the schema by their names,
        each of shape (records, 1): strings for categories that are text, doubles for all else. Its
        outputs are ``label``, of shape (records,), and ``probabilities``, of shape (records,
        classes); an underscore is added to one that a column is named like. The metadata has the
        privacy statement as JSON, under ``privatree.privacy``.

    Raises
    ------
    ParameterError
        If onnx is not installed, or a name, category or label cannot be written: a column without
        a name, or a number that neither 64-bit integers nor doubles have.

    Notes
    -----
    A missing number is NaN, and so is a missing category if categories are numbers or booleans
    (which are 1 and 0). A missing text is any text that is not a category, such as the empty one.
    Only where number categories are whole and beyond doubles is the input of 64-bit integers, of
    which any other one is missing.

    Examples
    --------
    With onnxruntime, from a pandas frame::

        session = onnxruntime.InferenceSession(export_onnx(model))
        feeds = {
            column.name: frame[[column.name]].to_numpy(
                dtype=str if column.type == "tensor(string)" else float
            )
            for column in session.get_inputs()
        }
        label, probabilities = session.run(None, feeds)
    """
    released = released_model(model)
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise missing_extra("ONNX needs onnx", "onnx") from error
    from privatree import __version__

    graph = _Graph(released.tree_).finished()
    written = helper.make_model(
        graph,
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_ML, _ML_OPSET)],
        producer_name="privatree",
        producer_version=__version__,
    )
    helper.set_model_props(written, {STATEMENT: json.dumps(released.privacy_.to_dict())})
    checker.check_model(written, full_check=True)
    return bytes(written.SerializeToString())


class _Graph:
    """The graph of a tree, put together node by node."""

    def __init__(self, tree: Tree) -> None:
        from onnx import NodeProto, TensorProto

        self.tree = tree
        self.features = list(tree.schema.features.items())
        _check_names(tree.schema)
        self.prefix = _unlike("privatree", [*tree.schema.names, "label", "probabilities"])
        self.nodes, self.tensors = list[NodeProto](), list[TensorProto]()

    def finished(self) -> Any:
        """The graph with its inputs and outputs."""
        from onnx import helper

        outputs = [_free(name, self.tree.schema) for name in ("label", "probabilities")]
        leaves = self.tree.leaves
        leaf = self._position_of_leaf(leaves)
        labels = _label_array(self.tree.schema.classes)
        if self.tree.probability is not None:
            shares = self.tree.probability[leaves]
        else:
            shares = np.zeros((len(leaves), len(labels)))
            shares[np.arange(len(leaves)), self.tree.label[leaves]] = 1.0
        tables = labels[self.tree.label[leaves]], shares
        for output, table in zip(outputs, tables, strict=True):
            self._add("Gather", [self._tensor(table), leaf], [output], axis=0)
        return helper.make_graph(
            self.nodes,
            "privatree",
            [_value(name, _input_type(feature), 1) for name, feature in self.features],
            [
                _value(name, table.dtype, *table.shape[1:])
                for name, table in zip(outputs, tables, strict=True)
            ],
            initializer=self.tensors,
        )

    def _position_of_leaf(self, leaves: NDArray[np.intp]) -> str:
        """The value that says which of the leaves each record comes to."""
        if self.tree.n_nodes == 1:
            shape = self._add("Shape", [self.features[0][0]], start=0, end=1)
            return self._add("ConstantOfShape", [shape], value=self._zero())
        from onnx import TensorProto, numpy_helper

        columns, column_of = self._columns()
        inside = self.tree.feature >= 0
        found = self._add(
            "TreeEnsembleRegressor",
            [self._add("Concat", columns, axis=1)],
            domain=_ML,
            n_targets=1,
            nodes_treeids=[0] * self.tree.n_nodes,
            nodes_nodeids=list(range(self.tree.n_nodes)),
            nodes_modes=np.where(inside, "BRANCH_LEQ", "LEAF").tolist(),
            nodes_featureids=column_of,
            # A question about categories has been answered: 0 is yes, 1 is no.
            nodes_values_as_tensor=numpy_helper.from_array(
                np.where(np.isnan(self.tree.threshold), 0.5, self.tree.threshold)
            ),
            nodes_missing_value_tracks_true=[
                int(position >= 0 and self.tree.missing_goes_left(node))
                for node, position in enumerate(self.tree.feature.tolist())
            ],
            nodes_truenodeids=np.where(inside, self.tree.left, 0).tolist(),
            nodes_falsenodeids=np.where(inside, self.tree.right, 0).tolist(),
            target_treeids=[0] * len(leaves),
            target_nodeids=leaves.tolist(),
            target_ids=[0] * len(leaves),
            target_weights_as_tensor=numpy_helper.from_array(np.arange(float(len(leaves)))),
        )
        return self._as_list(self._add("Cast", [found], to=TensorProto.INT64))

    def _columns(self) -> tuple[list[str], list[int]]:
        """What the tree is asked about: values of so many columns, and for each node its column."""
        values, n_columns = list[str](), 0
        column_of = [0] * self.tree.n_nodes
        for position, nodes in self.tree.splits_by_feature().items():
            name, feature = self.features[position]
            if isinstance(feature, Categorical):
                masks = {node: ~self.tree.left_mask(node) for node in nodes}
                different = {mask.tobytes(): mask for mask in masks.values()}
                place = {key: n_columns + i for i, key in enumerate(different)}
                column_of_node = {node: place[mask.tobytes()] for node, mask in masks.items()}
                values.append(self._answers(name, feature, np.column_stack([*different.values()])))
                n_columns += len(different)
            else:
                column_of_node = dict.fromkeys(nodes, n_columns)
                values.append(name)
                n_columns += 1
            for node, column in column_of_node.items():
                column_of[node] = column
        return values, column_of

    def _answers(self, name: str, feature: Categorical, tables: NDArray[np.bool_]) -> str:
        """For each of some tables, of which categories go right, whether a record's does."""
        from onnx import TensorProto

        codes = list(range(len(feature.categories)))
        if _input_type(feature) == np.dtype(object):
            code = self._add(
                "LabelEncoder",
                [name],
                domain=_ML,
                keys_strings=[str(category) for category in feature.categories],
                values_int64s=codes,
                default_int64=feature.missing_place,
            )
        else:
            from onnx import numpy_helper

            keys = np.array(feature.categories, dtype=_input_type(feature))
            code = self._add(
                "LabelEncoder",
                [name],
                domain=_ML,
                keys_tensor=numpy_helper.from_array(keys),
                values_tensor=numpy_helper.from_array(np.array(codes)),
                default_tensor=numpy_helper.from_array(np.array([feature.missing_place])),
            )
        answers = self._add("Gather", [self._tensor(tables), self._as_list(code)], axis=0)
        return self._add("Cast", [answers], to=TensorProto.DOUBLE)

    # --- parts ------------------------------------------------------------------------------

    def _add(
        self, kind: str, inputs: list[str], outputs: list[str] | None = None, **how: Any
    ) -> str:
        """Add a node; the name of what it computes."""
        from onnx import helper

        names = outputs or [f"{self.prefix}_value_{len(self.nodes)}"]
        self.nodes.append(helper.make_node(kind, inputs, names, **how))
        return names[0]

    def _tensor(self, values: NDArray[Any]) -> str:
        """Add a constant; its name."""
        from onnx import numpy_helper

        name = f"{self.prefix}_table_{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(values, name))
        return name

    def _as_list(self, value: str) -> str:
        """Of shape (records,), not (records, 1)."""
        return self._add("Squeeze", [value, self._tensor(np.array([1]))])

    def _zero(self) -> Any:
        from onnx import numpy_helper

        return numpy_helper.from_array(np.array([0]))


# --- names and types ----------------------------------------------------------------------------


def _check_names(schema: Schema) -> None:
    if "" in schema.features:
        raise ParameterError("ONNX needs names of at least one character, got a column without.")


def _unlike(name: str, taken: Iterable[str]) -> str:
    """A beginning that none of the names has."""
    while any(other.startswith(name) for other in taken):
        name += "_"
    return name


def _free(name: str, schema: Schema) -> str:
    """The name of an output, with an underscore for each column that has it."""
    while name in schema.features:
        name += "_"
    return name


def _value(name: str, dtype: np.dtype[Any], *sizes: int) -> Any:
    from onnx import helper

    kind = helper.np_dtype_to_tensor_dtype(dtype)
    return helper.make_tensor_value_info(name, kind, ["records", *sizes])


def _input_type(feature: Any) -> np.dtype[Any]:
    """Text as objects, all else as doubles, or integers where only they are exact."""
    if not isinstance(feature, Categorical):
        return np.dtype(np.float64)
    if isinstance(feature.categories[0], str):
        return np.dtype(object)
    return _number_type("categories", feature.categories)


def _label_array(labels: Iterable[Label]) -> NDArray[Any]:
    listed = list(labels)
    if isinstance(listed[0], str):
        return np.array(listed, dtype=object)
    if isinstance(listed[0], bool):
        return np.array(listed, dtype=np.bool_)
    if all(isinstance(label, int) for label in listed):
        return np.array(listed, dtype=_integer_type("labels", listed))
    return np.array(listed, dtype=_number_type("labels", listed))


def _number_type(what: str, numbers: Iterable[Label]) -> np.dtype[Any]:
    listed = list(numbers)
    if all(_is_double(number) for number in listed):
        return np.dtype(np.float64)
    return _integer_type(what, listed)


def _integer_type(what: str, numbers: list[Label]) -> np.dtype[Any]:
    if all(isinstance(number, int) and _MIN_INT <= number <= _MAX_INT for number in numbers):
        return np.dtype(np.int64)
    raise ParameterError(
        f"ONNX needs {what} that are all doubles or all 64-bit integers, got larger or mixed ones. "
        "Use text instead."
    )


def _is_double(number: Label) -> bool:
    try:
        return float(number) == number
    except OverflowError:
        return False
