"""Trees, forests and boosting of scikit-learn: the exact region where a label is kept, from their axis-aligned cells.

**Thresholds.** scikit-learn compares single-precision features: a double goes left if its rounding to single precision
is at most the threshold. So the cell ends at the largest double that rounds to at most the threshold, which is computed
here; a report that is exactly there is on the right side. (Boosting on histograms compares doubles.)

**Bounds over a box.** Each tree is followed down as far as the box decides its splits. The subtree that is reached
bounds the tree's part of the margin ``score(label) - score(other)``; the sums of these bounds decide the box unless
they come within `_ROUNDING` of 0. Where every tree has reached a leaf, the box is inside a cell, on which the model's
scores are constant: margins that near to 0 are then decided by asking the model itself at the box's upper corner.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.studies.classifiers.cells import Decision
from mechdesign.studies.classifiers.models import Record
from mechdesign.values.declare import Floats, array, frozen

Places = NDArray[np.intp]

_ROUNDING = 1e-9


@frozen
class TreeRegion:
    """Where an ensemble keeps the label of a record, as a function of the coordinates that are sent.

    Nodes of all trees are in one array: ``axis`` is the coordinate a node asks for (-1 at leaves), ``left`` and
    ``right`` its children; ``least`` and ``most`` bound the margins to every other label over the node's leaves.
    """

    record: Record
    roots: Places = array(np.asarray)
    axis: Places = array(np.asarray)
    threshold: Floats = array(np.asarray)
    left: Places = array(np.asarray)
    right: Places = array(np.asarray)
    least: Floats = array(np.asarray)
    most: Floats = array(np.asarray)
    offset: Floats = array(np.asarray)

    @property
    def dimensions(self) -> int:
        return len(self.record.columns)

    def decide(self, lower: Floats, upper: Floats) -> Decision:
        count = len(lower)
        nodes = self._descended(np.repeat(self.roots[None, :], count, axis=0), lower, upper)
        least = self.offset + self.least[nodes].sum(axis=1)
        most = self.offset + self.most[nodes].sum(axis=1)
        verdict = np.zeros(count, dtype=np.int8)
        verdict[(least > _ROUNDING).all(axis=1)] = 1
        verdict[(most < -_ROUNDING).any(axis=1)] = -1
        spread = (self.most[nodes] - self.least[nodes]).max(axis=2)
        spread = np.where(self.axis[nodes] >= 0, spread, -1.0)
        widest = spread.argmax(axis=1)
        asked = nodes[np.arange(count), widest]
        in_cell = (verdict == 0) & (self.axis[asked] < 0)
        if in_cell.any():
            corners = np.where(np.isfinite(upper[in_cell]), upper[in_cell], np.maximum(lower[in_cell] + 1, 2.0))
            verdict[in_cell] = np.where(self.record.keeps(corners), 1, -1)
        return Decision(verdict, np.maximum(self.axis[asked], 0), self.threshold[asked])

    def thresholds(self, coordinate: int) -> Floats:
        """Where the cells end along a coordinate."""
        return np.unique(self.threshold[self.axis == coordinate])

    def _descended(self, nodes: Places, lower: Floats, upper: Floats) -> Places:
        rows = np.arange(len(nodes))[:, None]
        while True:
            axis, place = self.axis[nodes], self.threshold[nodes]
            inner = axis >= 0
            goes_left = inner & (upper[rows, axis] <= place)
            goes_right = inner & (lower[rows, axis] >= place)
            if not (goes_left | goes_right).any():
                return nodes
            nodes = np.where(goes_left, self.left[nodes], np.where(goes_right, self.right[nodes], nodes))


@frozen
class _Tree:
    """Children (below 0 at leaves), features, and the largest double of a feature that goes left."""

    left: Places = array(np.asarray)
    right: Places = array(np.asarray)
    feature: Places = array(np.asarray)
    last: Floats = array(np.asarray)

    @classmethod
    def of(cls, tree: Any) -> _Tree:
        return cls(tree.children_left, tree.children_right, tree.feature, _last_double(tree.threshold))

    @classmethod
    def of_nodes(cls, nodes: Any) -> _Tree:
        """From the table of boosting on histograms."""
        is_leaf = nodes["is_leaf"].astype(bool)
        left, right = (np.where(is_leaf, -1, nodes[side].astype(np.intp)) for side in ("left", "right"))
        return cls(left, right, nodes["feature_idx"].astype(np.intp), nodes["num_threshold"])


def tree_region(record: Record) -> TreeRegion | None:
    """The region of a decision tree, forest or gradient boosting of scikit-learn; None for other models."""
    members = _members(record)
    if members is None:
        return None
    trees, values, offset, position = members
    classes = offset.size
    others = [k for k in range(classes) if k != position]
    parts: dict[str, list[Any]] = {name: [] for name in ("axis", "threshold", "left", "right", "least", "most")}
    roots, start = [], 0
    where = np.full(record.classifier.features, -1)
    where[list(record.columns)] = np.arange(len(record.columns))
    for tree, value in zip(trees, values, strict=True):
        size = tree.left.size
        is_leaf = tree.left < 0
        margins = value[:, [position]] - value[:, others]
        least, most = margins.copy(), margins.copy()
        left = np.where(is_leaf, np.arange(size), tree.left)
        right = np.where(is_leaf, np.arange(size), tree.right)
        axis = np.where(is_leaf, -1, where[np.maximum(tree.feature, 0)])
        threshold = tree.last
        known = ~is_leaf & (axis < 0)  # splits on features that are not sent: both children become the one taken
        side = record.x[np.maximum(tree.feature, 0)] <= threshold
        left = np.where(known & ~side, right, left)
        right = np.where(known & side, left, right)
        for node in range(size - 1, -1, -1):  # children come after their parents
            if not is_leaf[node]:
                low, high = left[node], right[node]
                least[node] = np.minimum(least[low], least[high])
                most[node] = np.maximum(most[low], most[high])
        # pass through the known splits: point at what lies below them
        target = np.arange(size)
        for node in range(size - 1, -1, -1):
            if known[node]:
                target[node] = target[left[node]]
        roots.append(start + target[0])
        parts["axis"].append(np.where(known, -1, axis))
        parts["threshold"].append(threshold)
        parts["left"].append(start + target[left])
        parts["right"].append(start + target[right])
        parts["least"].append(least)
        parts["most"].append(most)
        start += size
    joined = {name: np.concatenate(part) for name, part in parts.items()}
    return TreeRegion(record, np.array(roots), **joined, offset=offset[position] - offset[others])


def _members(record: Record) -> tuple[list[_Tree], list[Floats], Floats, int] | None:
    """Trees, the scores of their nodes for every class, the scores before any tree, and the label's class."""
    model = record.classifier.model
    kind = type(model).__name__ if type(model).__module__.startswith("sklearn.") else ""
    if kind in ("DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"):
        if getattr(model, "n_outputs_", 1) != 1:
            return None
        trees = [member.tree_ for member in getattr(model, "estimators_", [model])]
        values = [_shares(tree.value[:, 0, :]) / len(trees) for tree in trees]
        offset = np.zeros(len(model.classes_))
    elif kind == "HistGradientBoostingClassifier":
        classes = len(model.classes_)
        nodes = [(grown.nodes, j) for step in model._predictors for j, grown in enumerate(step)]
        if any(part["is_categorical"].any() for part, _ in nodes) or getattr(model, "_preprocessor", None) is not None:
            return None
        values = []
        for part, j in nodes:
            score = np.zeros((len(part), classes))
            score[:, j if classes > 2 else 1] = part["value"]
            values.append(score)
        start = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
        offset = start if classes > 2 else np.array([0.0, start[0]])
        return [_Tree.of_nodes(part) for part, _ in nodes], values, offset, _place(model, record)
    elif kind == "GradientBoostingClassifier" and getattr(model, "init", None) in (None, "zero"):
        grid = model.estimators_
        trees = [grid[k, j].tree_ for k in range(grid.shape[0]) for j in range(grid.shape[1])]
        classes = len(model.classes_)
        values = []
        for k in range(grid.shape[0]):
            for j in range(grid.shape[1]):
                score = np.zeros((grid[k, j].tree_.node_count, classes))
                score[:, j if classes > 2 else 1] = model.learning_rate * grid[k, j].tree_.value[:, 0, 0]
                values.append(score)
        # what it starts from is the same for every point: the score here less that of the trees
        scores = np.atleast_1d(model.decision_function(record.x[None, :])[0])
        total = np.zeros(classes) if classes > 2 else np.zeros(2)
        reached = [tree.apply(record.x[None, :].astype(np.float32))[0] for tree in trees]
        total += sum(value[leaf] for value, leaf in zip(values, reached, strict=True))
        offset = (scores if classes > 2 else np.array([0.0, scores[0]])) - total
    else:
        return None
    return [_Tree.of(tree) for tree in trees], values, offset, _place(model, record)


def _place(model: Any, record: Record) -> int:
    return int(np.flatnonzero(model.classes_ == record.label)[0])


def _shares(counts: Floats) -> Floats:
    """Class shares of a node; older versions of scikit-learn keep weights instead."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _last_double(threshold: Floats) -> Floats:
    """The largest double whose rounding to single precision is at most the threshold.

    >>> place = _last_double(np.array([0.1]))[0]
    >>> float(np.float32(place)) <= 0.1, float(np.float32(np.nextafter(place, 1))) <= 0.1
    (True, False)
    """
    below = threshold.astype(np.float32)
    below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below).astype(np.float32)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2  # exact: one more bit than single precision
    return np.asarray(np.where(middle.astype(np.float32) == below, middle, np.nextafter(middle, -np.inf)))
