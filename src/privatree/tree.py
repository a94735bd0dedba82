"""The released tree: frozen arrays that say where a record goes; nothing private in it.

Node 0 is the root and a child's id is larger than its parent's, so a walk always ends.

- A numeric split sends a record left when ``value <= threshold``. Because every threshold lies in
  the feature's ``[low, high)``, clipping a value to its public range never changes its side; a
  missing number goes where ``Numeric.missing_place`` goes.
- A category split sends the codes marked in its mask left. A code that is not one of the
  feature's goes where ``Categorical.missing_place`` goes.
- A leaf has a label and, if the learner released them, class probabilities.

:class:`TreeBuilder` grows a tree split by split; :meth:`Tree.to_dict` and :meth:`Tree.from_dict`
are its written form, a list of nodes that a person can read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from privatree.errors import ModelFormatError, ParameterError
from privatree.schema import Categorical, Feature, Label, Schema

MAX_NODES = 2**20
MAX_DEPTH = 1000
MAX_MASK = 2**24
"""The longest `goes_left`: a small file must not ask for a large memory."""
MANY_ROWS = 50_000
"""From here on two threads share the rows; below, starting them costs more than it saves."""

Array: TypeAlias = NDArray[Any]
IntArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]

_BLOCK = 64
_SPLIT_KEYS = frozenset({"feature", "left", "right"})


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A decision tree as read-only arrays with one entry per node.

    Parameters
    ----------
    schema : Schema
        The features and classes that the codes below refer to.
    feature : int32 array of shape (n_nodes,)
        The position in the schema of the feature split on; -1 at a leaf.
    threshold : float64 array of shape (n_nodes,)
        Of a numeric split: values up to and including it go left. NaN elsewhere.
    left, right : int32 arrays of shape (n_nodes,)
        The children; -1 at a leaf.
    mask_start : int64 array of shape (n_nodes,)
        Of a category split: where its mask starts in `goes_left`. The masks stand one after the
        other in the order of their nodes. -1 elsewhere.
    goes_left : uint8 array
        One entry for each category of each category split, 1 if it goes left.
    label : int32 array of shape (n_nodes,)
        The code of the class a leaf predicts; -1 inside the tree.
    probability : float64 array of shape (n_nodes, n_classes), optional
        The class probabilities of the leaves, zero inside the tree. Without them a leaf is as
        sure as can be of its label.

    Raises
    ------
    ModelFormatError
        If the arrays are not a tree of this schema.
    """

    schema: Schema
    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    mask_start: NDArray[np.int64]
    goes_left: NDArray[np.uint8]
    label: IntArray
    probability: FloatArray | None = None
    depth: int = field(init=False, repr=False)
    _packed: _Packed = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        if not isinstance(self.schema, Schema):
            raise ModelFormatError(f"schema must be a Schema, got {type(self.schema).__name__}.")
        n_nodes = np.size(self.feature)
        if not 1 <= n_nodes <= MAX_NODES:
            raise ModelFormatError(f"a tree must have 1 to {MAX_NODES} nodes, got {n_nodes}.")
        shapes: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
            "feature": (np.int32, (n_nodes,)),
            "threshold": (np.float64, (n_nodes,)),
            "left": (np.int32, (n_nodes,)),
            "right": (np.int32, (n_nodes,)),
            "mask_start": (np.int64, (n_nodes,)),
            "goes_left": (np.uint8, (np.size(self.goes_left),)),
            "label": (np.int32, (n_nodes,)),
            "probability": (np.float64, (n_nodes, len(self.schema.classes))),
        }
        for name, (kind, shape) in shapes.items():
            if name != "probability" or self.probability is not None:
                object.__setattr__(self, name, _frozen(name, getattr(self, name), kind, shape))
        _check_links(self)
        _check_splits(self)
        _check_leaves(self)
        object.__setattr__(self, "depth", _depth(self))
        object.__setattr__(self, "_packed", _pack(self))

    def __eq__(self, other: object) -> bool:
        """Whether both are the same tree of the same schema."""
        if not isinstance(other, Tree):
            return NotImplemented
        return self.schema == other.schema and all(
            np.array_equal(mine, its, equal_nan=True)
            if mine is not None and its is not None
            else mine is its
            for mine, its in zip(self._arrays(), other._arrays(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Tree], tuple[Any, ...]]:
        """Pickle by the constructor: what is read back is checked and read-only again."""
        return Tree, (self.schema, *self._arrays())

    def _arrays(self) -> tuple[Array | None, ...]:
        return (self.feature, self.threshold, self.left, self.right, self.mask_start,
                self.goes_left, self.label, self.probability)  # fmt: skip

    @property
    def n_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def used_features(self) -> tuple[int, ...]:
        """The schema positions of the features that some node splits on, in order."""
        return tuple(np.unique(self.feature[self.feature >= 0]).tolist())

    def left_codes(self, node: int) -> tuple[int, ...]:
        """The category codes that go left at a category split."""
        categories = list(self.schema.features.values())[self.feature[node]].categories
        start = self.mask_start[node]
        return tuple(np.flatnonzero(self.goes_left[start : start + len(categories)]).tolist())

    # --- prediction ---------------------------------------------------------------------------

    def apply(self, matrix: ArrayLike, columns: Sequence[int] | Array) -> IntArray:
        """The leaf of each record.

        Parameters
        ----------
        matrix : 2-D array of numbers, records as rows
            Raw values in numeric columns, category codes in the others.
        columns : sequence of int
            Which column of `matrix` holds each schema feature; -1 where the tree uses none.

        Returns
        -------
        int32 array
            A node id for each row.
        """
        return self._walk(matrix, columns, self._packed.node)

    def predict(self, matrix: ArrayLike, columns: Sequence[int] | Array) -> IntArray:
        """The class code of each record; the arguments are those of :meth:`apply`."""
        return self._walk(matrix, columns, self._packed.label)

    def predict_proba(self, matrix: ArrayLike, columns: Sequence[int] | Array) -> FloatArray:
        """The class probabilities of each record; the arguments are those of :meth:`apply`."""
        if self.probability is None:
            return np.eye(len(self.schema.classes))[self.predict(matrix, columns)]
        return self.probability[self.apply(matrix, columns)]

    def _walk(
        self, matrix: ArrayLike, columns: Sequence[int] | Array, outcome: IntArray
    ) -> IntArray:
        values = _as_matrix(matrix)
        packed, n_rows = self._packed, len(values)
        column = _as_columns(self, columns, values.shape[1])[packed.feature]
        out = np.empty(n_rows, dtype=np.int32)

        def walk(start: int, stop: int) -> None:
            _walk_rows(values, column, packed.threshold, packed.missing_right, packed.first_child,
                       packed.last_code, packed.table_start, packed.table, outcome, out,
                       start, stop, self.depth)  # fmt: skip

        if n_rows < MANY_ROWS:
            walk(0, n_rows)
            return out
        half = n_rows // 2
        with ThreadPoolExecutor(max_workers=1) as other:
            second = other.submit(walk, half, n_rows)
            walk(0, half)
            second.result()
        return out

    # --- written form -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, with the names and labels of the schema."""
        return {"nodes": [self._node_to_dict(node) for node in range(self.n_nodes)]}

    def _node_to_dict(self, node: int) -> dict[str, Any]:
        position = int(self.feature[node])
        if position < 0:
            leaf: dict[str, Any] = {"label": self.schema.classes[self.label[node]]}
            if self.probability is not None:
                leaf["probability"] = self.probability[node].tolist()
            return leaf
        name, feature = list(self.schema.features.items())[position]
        split: dict[str, Any] = {"feature": name}
        if isinstance(feature, Categorical):
            split["categories"] = [feature.categories[code] for code in self.left_codes(node)]
        else:
            split["threshold"] = float(self.threshold[node])
        return split | {"left": int(self.left[node]), "right": int(self.right[node])}

    @classmethod
    def from_dict(cls, written: Any, schema: Schema) -> Tree:
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`ModelFormatError`."""
        if not isinstance(written, dict) or written.keys() != {"nodes"}:
            raise ModelFormatError("a tree must be an object with the one key 'nodes'.")
        nodes = written["nodes"]
        if not isinstance(nodes, list) or not 1 <= len(nodes) <= MAX_NODES:
            raise ModelFormatError(f"'nodes' must be a list of 1 to {MAX_NODES} nodes.")
        reader = _Reader(schema, len(nodes))
        drafts = []
        for node, entry in enumerate(nodes):
            try:
                drafts.append(reader.read(entry))
            except ModelFormatError as error:
                raise ModelFormatError(f"node {node}: {error}") from None
        return _assemble(schema, drafts)


class TreeBuilder:
    """Grows a tree from the root: split a node or make it a leaf, each node once.

    Parameters
    ----------
    schema : Schema
        The features and classes of the tree.

    Notes
    -----
    Child ids are handed out in the order of the calls: 1 and 2, then 3 and 4, and so on.
    """

    root = 0

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._features = list(schema.features.values())
        self._drafts: list[_Draft | None] = [None]

    def split_numeric(self, node: int, feature: int, threshold: float) -> tuple[int, int]:
        """Send values up to and including `threshold` left; returns both children."""
        self._check(node, feature)
        return self._split(node, _Draft(feature=int(feature), threshold=float(threshold)))

    def split_categories(
        self, node: int, feature: int, left_codes: Iterable[int]
    ) -> tuple[int, int]:
        """Send the categories with these codes left; returns both children."""
        kind, codes = self._check(node, feature), {int(code) for code in left_codes}
        if not isinstance(kind, Categorical):
            raise ParameterError(f"feature {feature} has no categories. Use split_numeric.")
        if not codes <= set(range(len(kind.categories))):
            raise ParameterError(f"left_codes must be in 0 to {len(kind.categories) - 1}.")
        mask = bytes(code in codes for code in range(len(kind.categories)))
        return self._split(node, _Draft(feature=int(feature), goes_left=mask))

    def leaf(self, node: int, label: int, probability: Sequence[float] | None = None) -> None:
        """Predict the class with code `label` here."""
        self._check(node, 0)
        row = None if probability is None else [float(share) for share in probability]
        self._drafts[node] = _Draft(label=int(label), probability=row)

    def build(self) -> Tree:
        """The finished tree."""
        finished = [draft for draft in self._drafts if draft is not None]
        if len(finished) < len(self._drafts):
            raise ParameterError(
                f"every node must be split or a leaf, node {self._drafts.index(None)} is neither."
            )
        return _assemble(self._schema, finished)

    def _check(self, node: int, feature: int) -> Feature:
        if not 0 <= node < len(self._drafts) or self._drafts[node] is not None:
            raise ParameterError(f"node must be an unfinished node, got {node}.")
        if not 0 <= feature < len(self._features):
            raise ParameterError(
                f"feature must be in 0 to {len(self._features) - 1}, got {feature}."
            )
        return self._features[feature]

    def _split(self, node: int, draft: _Draft) -> tuple[int, int]:
        children = len(self._drafts), len(self._drafts) + 1
        self._drafts[node] = draft._replace(left=children[0], right=children[1])
        self._drafts += [None, None]
        return children


# --- nodes on their way to arrays ---------------------------------------------------------------


class _Draft(NamedTuple):
    feature: int = -1
    threshold: float = math.nan
    left: int = -1
    right: int = -1
    goes_left: bytes | None = None
    label: int = -1
    probability: list[float] | None = None


def _assemble(schema: Schema, drafts: Sequence[_Draft]) -> Tree:
    leaves = [draft for draft in drafts if draft.feature < 0]
    n_classes = len(schema.classes)
    probability = None
    if any(leaf.probability is not None for leaf in leaves):
        if any(leaf.probability is None or len(leaf.probability) != n_classes for leaf in leaves):
            raise ModelFormatError(f"every leaf must have {n_classes} probabilities, or none has.")
        probability = np.array([draft.probability or [0.0] * n_classes for draft in drafts])
    mask_start, goes_left = [], bytearray()
    for draft in drafts:
        mask_start.append(-1 if draft.goes_left is None else len(goes_left))
        goes_left += draft.goes_left or b""
    return Tree(
        schema=schema,
        feature=np.array([draft.feature for draft in drafts]),
        threshold=np.array([draft.threshold for draft in drafts]),
        left=np.array([draft.left for draft in drafts]),
        right=np.array([draft.right for draft in drafts]),
        mask_start=np.array(mask_start),
        goes_left=np.frombuffer(goes_left, dtype=np.uint8),
        label=np.array([draft.label for draft in drafts]),
        probability=probability,
    )


class _Reader:
    """Reads one written node at a time."""

    def __init__(self, schema: Schema, n_nodes: int) -> None:
        self.n_nodes, self.mask_entries = n_nodes, 0
        self.positions = {name: position for position, name in enumerate(schema.features)}
        self.classes = _codes(schema.classes)
        self.categories = [
            _codes(feature.categories) if isinstance(feature, Categorical) else None
            for feature in schema.features.values()
        ]

    def read(self, entry: Any) -> _Draft:
        if not isinstance(entry, dict):
            raise ModelFormatError("must be an object.")
        keys = entry.keys()
        if keys == {"label"} or keys == {"label", "probability"}:
            label = _code(entry["label"], self.classes, "the classes")
            return _Draft(label=label, probability=self._probability(entry))
        if keys == _SPLIT_KEYS | {"threshold"} or keys == _SPLIT_KEYS | {"categories"}:
            return self._split(entry)
        raise ModelFormatError(
            "must have the keys 'feature', 'left', 'right' and one of 'threshold' and "
            "'categories', or the key 'label' and perhaps 'probability', and no others."
        )

    def _split(self, entry: dict[str, Any]) -> _Draft:
        name = entry["feature"]
        if not isinstance(name, str) or name not in self.positions:
            raise ModelFormatError("'feature' must be a feature of the schema.")
        position = self.positions[name]
        codes = self.categories[position]
        if (codes is None) == ("categories" in entry):
            needed = "'threshold'" if codes is None else "'categories'"
            raise ModelFormatError(f"a split on this feature must have {needed}.")
        draft = _Draft(position, left=self._child(entry, "left"), right=self._child(entry, "right"))
        if codes is None:
            return draft._replace(threshold=_finite(entry["threshold"], "'threshold'"))
        if not isinstance(entry["categories"], list):
            raise ModelFormatError("'categories' must be a list.")
        self.mask_entries += len(codes)
        if self.mask_entries > MAX_MASK:
            raise ModelFormatError(f"the category splits must have at most {MAX_MASK} categories.")
        mask = bytearray(len(codes))
        for category in entry["categories"]:
            code = _code(category, codes, "the feature's categories")
            if mask[code]:
                raise ModelFormatError("'categories' must be distinct.")
            mask[code] = 1
        return draft._replace(goes_left=bytes(mask))

    def _child(self, entry: dict[str, Any], side: str) -> int:
        child = entry[side]
        if type(child) is not int or not 0 < child < self.n_nodes:
            raise ModelFormatError(f"'{side}' must be a node id in 1 to {self.n_nodes - 1}.")
        return child

    def _probability(self, entry: dict[str, Any]) -> list[float] | None:
        if "probability" not in entry:
            return None
        shares = entry["probability"]
        if not isinstance(shares, list) or len(shares) != len(self.classes):
            raise ModelFormatError(f"'probability' must be a list of {len(self.classes)} numbers.")
        return [_finite(share, "'probability'") for share in shares]


def _codes(labels: Sequence[Label]) -> dict[tuple[str, Label], int]:
    return {(_kind(label), label): code for code, label in enumerate(labels)}


def _kind(label: Any) -> str:
    """Tells 1, 1.0 and true apart, which are equal in Python."""
    return next((kind.__name__ for kind in (str, bool, int, float) if isinstance(label, kind)), "")


def _code(label: Any, codes: dict[tuple[str, Label], int], of_what: str) -> int:
    if not _kind(label) or (key := (_kind(label), label)) not in codes:
        raise ModelFormatError(f"a label must be one of {of_what}.")
    return codes[key]


def _finite(value: Any, name: str) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:  # an int beyond the floats
        number = math.inf
    if not math.isfinite(number):
        raise ModelFormatError(f"{name} must be a finite number.")
    return number


# --- checks of a finished tree ------------------------------------------------------------------


def _frozen(name: str, values: Any, kind: type[np.generic], shape: tuple[int, ...]) -> Array:
    array = np.asarray(values)
    wanted = np.dtype(kind)
    if array.shape != shape:
        raise ModelFormatError(f"{name} must have shape {shape}, got {array.shape}.")
    if array.dtype.kind not in ("iu" if wanted.kind in "iu" else "f"):
        raise ModelFormatError(f"{name} must be of type {wanted}, got {array.dtype}.")
    if wanted.kind in "iu" and array.size:
        limits = np.iinfo(wanted)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise ModelFormatError(f"{name} must fit in {wanted}.")
    frozen = np.array(array, dtype=wanted, order="C")
    frozen.flags.writeable = False
    return frozen


def _refuse(bad: NDArray[np.bool_], message: str) -> None:
    if bad.any():
        raise ModelFormatError(f"node {int(np.flatnonzero(bad)[0])}: {message}")


def _check_links(tree: Tree) -> None:
    """Each node but the root has one parent, which comes before it: no cycle is possible."""
    nodes = np.arange(tree.n_nodes)
    inside = tree.feature >= 0
    for name, child in (("left", tree.left), ("right", tree.right)):
        _refuse(~inside & (child != -1), f"{name} must be -1 at a leaf.")
        _refuse(inside & (child <= nodes), f"{name} must be larger than the node's own id.")
        _refuse(child >= tree.n_nodes, f"{name} must be less than {tree.n_nodes}.")
    children = np.concatenate([tree.left[inside], tree.right[inside]])
    parents = np.bincount(children, minlength=tree.n_nodes)
    parents[0] += 1
    _refuse(parents != 1, "must be the child of exactly one node.")


def _check_splits(tree: Tree) -> None:
    features = list(tree.schema.features.values())
    _refuse(tree.feature < -1, "feature must be -1 or a position in the schema.")
    _refuse(tree.feature >= len(features), f"feature must be less than {len(features)}.")
    low, high, n_categories = (np.zeros(len(features) + 1) for _ in range(3))
    for position, feature in enumerate(features):
        if isinstance(feature, Categorical):
            n_categories[position] = len(feature.categories)
        else:
            low[position], high[position] = float(feature.low), float(feature.high)
    length = n_categories.astype(np.int64)[tree.feature]  # 0 at leaves: position -1 is the spare
    numeric, category = (tree.feature >= 0) & (length == 0), length > 0
    _refuse(~numeric & ~np.isnan(tree.threshold), "threshold must be NaN here.")
    outside = ~((low[tree.feature] <= tree.threshold) & (tree.threshold < high[tree.feature]))
    _refuse(numeric & outside, "threshold must lie in the feature's [low, high).")
    starts = np.where(category, np.cumsum(length) - length, -1)
    _refuse(tree.mask_start != starts, "mask_start must follow the masks before, -1 without one.")
    if length.sum() > MAX_MASK:
        raise ModelFormatError(f"the category splits must have at most {MAX_MASK} categories.")
    if len(tree.goes_left) != length.sum() or (tree.goes_left > 1).any():
        raise ModelFormatError("goes_left must have one entry, 0 or 1, for each category.")


def _check_leaves(tree: Tree) -> None:
    leaf, n_classes = tree.feature < 0, len(tree.schema.classes)
    _refuse(~leaf & (tree.label != -1), "label must be -1 inside the tree.")
    _refuse(leaf & ((tree.label < 0) | (tree.label >= n_classes)), "label must be a class code.")
    if tree.probability is None:
        return
    _refuse(~leaf & (tree.probability != 0).any(axis=1), "probability must be 0 inside the tree.")
    in_range = ((tree.probability >= 0) & (tree.probability <= 1 + 1e-9)).all(axis=1)
    _refuse(leaf & ~in_range, "probability must be in 0 to 1.")
    off = np.abs(tree.probability.sum(axis=1) - 1.0) > 1e-9
    _refuse(leaf & off, "the probabilities of a leaf must sum to 1.")


def _depth(tree: Tree) -> int:
    depth, level = 0, np.zeros(1, dtype=np.int32)
    while len(level := level[tree.feature[level] >= 0]):
        depth += 1
        if depth > MAX_DEPTH:
            raise ModelFormatError(f"a tree must have at most {MAX_DEPTH} levels of splits.")
        level = np.concatenate([tree.left[level], tree.right[level]])
    return depth


# --- the kernel ---------------------------------------------------------------------------------


class _Packed(NamedTuple):
    """The same tree renumbered so that siblings are neighbours; a leaf is its own child."""

    node: IntArray
    label: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_right: NDArray[np.bool_]
    first_child: NDArray[np.uint32]
    last_code: FloatArray
    table_start: NDArray[np.uint32]
    table: NDArray[np.bool_] | None
    """Of each category split: whether a missing code goes right, then whether each code does."""


def _pack(tree: Tree) -> _Packed:
    features = list(tree.schema.features.values())
    inside = np.flatnonzero(tree.feature >= 0)
    node = np.zeros(tree.n_nodes, dtype=np.int32)
    node[1::2], node[2::2] = tree.left[inside], tree.right[inside]
    place = np.empty_like(node)
    place[node] = np.arange(tree.n_nodes)
    first_child = np.arange(tree.n_nodes, dtype=np.uint32)
    first_child[place[inside]] = place[tree.left[inside]]

    feature, threshold = tree.feature[node], tree.threshold[node]
    missing = np.array([float(kind.missing_place) for kind in features])[feature]
    missing_right = (feature >= 0) & (missing > threshold)
    threshold[np.isnan(threshold)] = np.inf
    last_code = np.full(tree.n_nodes, -1.0)
    table_start = np.zeros(tree.n_nodes, dtype=np.uint32)
    table = list[NDArray[np.bool_]]()
    size = 0
    for here in np.flatnonzero(tree.mask_start[node] >= 0).tolist():
        kind = features[feature[here]]
        start = tree.mask_start[node[here]]
        goes_right = tree.goes_left[start : start + len(kind.categories)] == 0
        table += [goes_right[[kind.missing_place]], goes_right]
        table_start[here], last_code[here] = size, len(goes_right) - 1
        size += len(goes_right) + 1
    feature[feature < 0] = tree.feature[0]  # a leaf reads, and ignores, what the root reads
    packed = _Packed(
        node=node,
        label=tree.label[node],
        feature=feature,
        threshold=threshold,
        missing_right=missing_right,
        first_child=first_child,
        last_code=last_code,
        table_start=table_start,
        table=np.concatenate(table) if table else None,
    )
    for array in packed:
        if array is not None:
            array.flags.writeable = False
    return packed


def _as_matrix(matrix: ArrayLike) -> Array:
    """A read-only view in a type that the kernel is compiled for; a copy only if it must be."""
    try:
        values = np.asarray(matrix)
        if values.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError("matrix must be a 2-D array of numbers.") from None
    if values.ndim != 2:
        raise ParameterError(f"matrix must have 2 dimensions, got {values.ndim}.")
    view = values.view(np.ndarray)
    view.flags.writeable = False
    return view


def _as_columns(tree: Tree, columns: Sequence[int] | Array, n_columns: int) -> NDArray[np.uint32]:
    column = np.asarray(columns)
    if column.shape != (len(tree.schema.features),) or column.dtype.kind not in "iu":
        raise ParameterError(
            f"columns must be {len(tree.schema.features)} whole numbers, one for each feature."
        )
    used = column[list(tree.used_features)]
    if ((used < 0) | (used >= n_columns)).any():
        raise ParameterError(f"columns of used features must be in 0 to {n_columns - 1}.")
    return column.astype(np.uint32)


_unsigned = np.uint64  # an unsigned index spares the kernel a test for negative ones


@njit(cache=True, nogil=True)
def _walk_rows(
    matrix: Any,
    column: Any,
    threshold: Any,
    missing_right: Any,
    first_child: Any,
    last_code: Any,
    table_start: Any,
    table: Any,
    outcome: Any,
    out: Any,
    start: int,
    stop: int,
    depth: int,
) -> None:  # pragma: no cover
    """Move a block of rows down one level at a time: no branch depends on a value.

    The rows of a block are independent of each other, so the processor works on several at once.
    With ``table=None`` (no category splits) the compiler drops everything about categories.
    """
    here = np.zeros(_BLOCK, dtype=np.uint32)
    for base in range(_unsigned(start), _unsigned(stop), _unsigned(_BLOCK)):
        n_rows = min(_unsigned(_BLOCK), _unsigned(stop) - base)
        for row in range(n_rows):
            here[row] = 0
        for _ in range(depth):
            moved = _unsigned(0)
            for row in range(n_rows):
                node = _unsigned(here[row])
                value = np.float64(matrix[base + row, _unsigned(column[node])])
                right = (value > threshold[node]) | ((value != value) & missing_right[node])
                if table is not None:  # noqa: SIM102 - the outer test is settled when compiling
                    if last_code[node] >= 0.0:
                        known = (value >= 0.0) & (value <= last_code[node])
                        code = _unsigned(np.int64(value)) + _unsigned(1) if known else _unsigned(0)
                        right = table[_unsigned(table_start[node]) + code]
                below = _unsigned(first_child[node]) + _unsigned(right)
                moved |= below ^ node
                here[row] = np.uint32(below)
            if moved == 0:
                break
        for row in range(n_rows):
            out[base + row] = outcome[_unsigned(here[row])]
