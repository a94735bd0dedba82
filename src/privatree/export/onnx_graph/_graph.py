"""Builder of ONNX graphs: inputs, answers to questions, trees and outputs.

LabelEncoder turns categories into codes, and Gather turns codes into a 0 or 1 for each question.
IsNaN answers whether a number is missing. These columns and the numeric columns are the input of
one TreeEnsembleRegressor with double thresholds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.export.onnx_graph._types import onnx_label_array, onnx_type
from privatree.schema import Categorical, Schema

ML = "ai.onnx.ml"
"""Domain of the operators for trees and labels."""
_HALF = 0.5
"""Threshold of questions without one: their column is 0 for yes (left) and 1 for no (right)."""


class Question(NamedTuple):
    """A question of a split: on a number with a threshold, on missing numbers or on categories."""

    feature: int
    asks_missing: bool = False
    goes_right: bytes | None = None
    """For categories: 1 for each category code that goes right, and 0 for the others."""


class SplitNodes:
    """The nodes of trees, as attributes of TreeEnsembleRegressor."""

    def __init__(self) -> None:
        self._nodes: list[tuple[int, int, str, int, float, int, int, int]] = []
        self._targets: list[tuple[int, int, int, float]] = []

    def add_split(
        self,
        tree: int,
        node: int,
        column: int,
        threshold: float | None,
        *,
        missing_left: bool,
        children: tuple[int, int],
    ) -> None:
        """Add a split: values up to the threshold go left, and NaN if `missing_left`."""
        value = _HALF if threshold is None else threshold
        split = (tree, node, "BRANCH_LEQ", column, value, int(missing_left), *children)
        self._nodes.append(split)

    def add_leaf(self, tree: int, node: int, values: Sequence[float]) -> None:
        """Add a leaf with a value for each target."""
        self._nodes.append((tree, node, "LEAF", 0, 0.0, 0, 0, 0))
        self._targets += [(tree, node, target, value) for target, value in enumerate(values)]

    def attributes(self, onnx: Any) -> dict[str, Any]:
        trees, numbers, modes, columns, values, missing, left, right = zip(
            *self._nodes, strict=True
        )
        of_trees, of_nodes, targets, weights = zip(*self._targets, strict=True)
        as_tensor = onnx.numpy_helper.from_array
        return {
            "n_targets": max(targets) + 1,
            "nodes_treeids": trees,
            "nodes_nodeids": numbers,
            "nodes_modes": modes,
            "nodes_featureids": columns,
            "nodes_values_as_tensor": as_tensor(np.array(values, dtype=np.float64)),
            "nodes_missing_value_tracks_true": missing,
            "nodes_truenodeids": left,
            "nodes_falsenodeids": right,
            "target_treeids": of_trees,
            "target_nodeids": of_nodes,
            "target_ids": targets,
            "target_weights_as_tensor": as_tensor(np.array(weights, dtype=np.float64)),
        }


class Graph(ABC):
    """Builder of the ONNX graph of a model. Its helpers return the names of ONNX values."""

    def __init__(self, schema: Schema) -> None:
        import onnx

        self.onnx, self.schema = onnx, schema
        self.features = list(schema.features.items())
        if "" in schema.features:
            raise ParameterError(
                "ONNX needs column names of at least one character, got an empty name. "
                "Rename the column."
            )
        self.prefix = "privatree"
        self.labels = None if schema.target is not None else onnx_label_array(schema.classes)
        """The classes; None if the model predicts a number."""
        while any(name.startswith(self.prefix) for name in schema.names):
            self.prefix += "_"
        self.nodes, self.constants = list[onnx.NodeProto](), list[onnx.TensorProto]()

    @abstractmethod
    def add_outputs(self, *names: str) -> None:
        """Add the nodes whose outputs have these names: those of `_output_values`, in its order."""

    def build_graph(self) -> Any:
        outputs = self._output_values()
        self.add_outputs(*(value.name for value in outputs))
        return self.onnx.helper.make_graph(
            self.nodes,
            "privatree",
            [self._graph_value(name, onnx_type(feature), 1) for name, feature in self.features],
            outputs,
            initializer=self.constants,
        )

    def _output_values(self) -> list[Any]:
        """Return the outputs: a number, or a label and the probabilities of the classes."""
        double = np.dtype(np.float64)
        if self.labels is None:
            return [self._graph_value(self._output_name("prediction"), double)]
        return [
            self._graph_value(self._output_name("label"), self.labels.dtype),
            self._graph_value(self._output_name("probabilities"), double, len(self.labels)),
        ]

    def _output_name(self, name: str) -> str:
        while name in self.schema.features:
            name += "_"
        return name

    def add_trees(self, columns: str, nodes: SplitNodes) -> str:
        """Add trees over the columns; return the sums of their leaves: (records, targets)."""
        return self.add_node(
            "TreeEnsembleRegressor", [columns], domain=ML, **nodes.attributes(self.onnx)
        )

    def add_columns(self, questions: Iterable[Question]) -> tuple[str, dict[Question, int]]:
        """Add the columns that answer questions; return them, and the column of each question."""
        asked: dict[int, dict[Question, None]] = {}
        for question in questions:
            asked.setdefault(question.feature, {})[question] = None
        values, column_of = list[str](), dict[Question, int]()
        for position in sorted(asked):
            name, feature = self.features[position]
            if isinstance(feature, Categorical):
                masks = [
                    np.frombuffer(question.goes_right or b"", dtype=np.uint8) > 0
                    for question in asked[position]
                ]
                values.append(self._add_answers(name, feature, np.column_stack(masks)))
            else:
                values += [
                    self._add_is_number(name) if question.asks_missing else name
                    for question in asked[position]
                ]
            for question in asked[position]:
                column_of[question] = len(column_of)
        return self.add_node("Concat", values, axis=1), column_of

    def add_record_zeros(self, zero: NDArray[Any]) -> str:
        """Add an array of shape (records,) that repeats `zero`, an array of one number."""
        shape = self.add_node("Shape", [self.features[0][0]], start=0, end=1)
        value = self.onnx.numpy_helper.from_array(zero)
        return self.add_node("ConstantOfShape", [shape], value=value)

    def _add_is_number(self, name: str) -> str:
        """Add a column with 0 for each missing number and 1 for every other number."""
        is_number = self.add_node("Not", [self.add_node("IsNaN", [name])])
        return self.add_node("Cast", [is_number], to=self.onnx.TensorProto.DOUBLE)

    def _add_answers(self, name: str, feature: Categorical, goes_right: NDArray[np.bool_]) -> str:
        """Add a column of 0 and 1 for each question. `goes_right` has a row per category code."""
        codes = np.arange(len(feature.categories))
        dtype, missing = onnx_type(feature), feature.missing_place
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
        code = self.add_node("LabelEncoder", [name], domain=ML, **encoding)
        answers = self.add_node(
            "Gather", [self.add_constant(goes_right), self.squeeze(code)], axis=0
        )
        return self.add_node("Cast", [answers], to=self.onnx.TensorProto.DOUBLE)

    def add_node(
        self, kind: str, inputs: list[str], outputs: list[str] | None = None, **attributes: Any
    ) -> str:
        names = outputs or [f"{self.prefix}_value_{len(self.nodes)}"]
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, names, **attributes))
        return names[0]

    def add_constant(self, values: NDArray[Any]) -> str:
        name = f"{self.prefix}_table_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def _graph_value(self, name: str, dtype: np.dtype[Any], *sizes: int) -> Any:
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return self.onnx.helper.make_tensor_value_info(name, kind, ["records", *sizes])

    def squeeze(self, value: str) -> str:
        """Change the shape (records, 1) to (records,)."""
        return self.add_node("Squeeze", [value, self.add_constant(np.array([1]))])
