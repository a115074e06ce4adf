"""Classifiers as the analysis sees them: a checked ``predict``, and model files that are opened without running code.

A pickle is a program. Whoever wrote the file runs what they like when it is opened, so `load_model` opens ``.pkl``,
``.pickle`` and ``.joblib`` only when told to trust the file. ``.skops`` and ``.onnx`` files hold no program.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import FileProblem, InvalidData, InvalidInput, sealed, unusable_extra
from mechdesign.values.declare import Floats, content, field, frozen, settle, whole

PICKLES = (".pkl", ".pickle", ".joblib")
SAFE = (".skops", ".onnx")
UNPICKLING_RUNS_CODE = (
    "opening a pickle runs whatever program its author put there: open only files you made or trust as you trust code; "
    "safe alternatives are .skops (skops.io.dump) and .onnx (skl2onnx)"
)


@frozen
class Classifier:
    """Any function from points of ``[0, 1]^features`` to labels; ``model`` is the estimator, where there is one.

    *Guarantee.* `labels` gives one whole number, truth value or word a point, or an `InvalidInput` that says what is
    wrong with ``predict``.

    >>> Classifier(lambda points: points[:, 0] > 0.5, 2).labels([[0.2, 0.9], [0.7, 0.1]]).tolist()
    [False, True]
    """

    predict: Callable[[Floats], Any]
    features: int = whole("features", 1)
    name: str = "classifier"
    names: tuple[str, ...] = ()
    model: Any = None

    def __attrs_post_init__(self) -> None:
        if not callable(self.predict):
            raise InvalidInput("predict", type(self.predict).__name__, "be a function of points", "pass model.predict")
        if self.names and len(self.names) != self.features:
            raise InvalidInput("names", len(self.names), f"name {self.features} features")

    def labels(self, points: ArrayLike) -> NDArray[Any]:
        """The label of every point."""
        array = np.atleast_2d(_numbers(points)).copy()  # what predict may write to
        try:
            answer = self.predict(array)
        except Exception as error:  # its words may quote the points
            failure = type(error).__name__
        else:
            return _require_labels(answer, len(array))
        rule = f"answer for points of shape (n, {self.features}), and raised {failure}"
        raise InvalidInput("predict", self.name, rule, "call it on such an array to see why")


def _require_labels(answer: Any, count: int) -> NDArray[Any]:
    labels = np.asarray(answer)
    if labels.shape != (count,):
        step = "of scores take the argmax of every row" if labels.ndim == 2 else "return one label a row"
        raise InvalidInput("predict", labels.shape, f"return labels of shape ({count},)", step)
    if labels.dtype.kind == "f":
        step = "return labels, not scores; whole numbers as integers: lambda X: model.predict(X).astype(int)"
        raise InvalidInput("predict", str(labels.dtype), "return whole numbers, truth values or words", step)
    if labels.dtype.kind == "O" and not all(isinstance(label, str | int | np.integer) for label in labels):
        raise InvalidInput("predict", "objects", "return whole numbers, truth values or words")
    if labels.dtype.kind not in "biuUSO":
        raise InvalidInput("predict", str(labels.dtype), "return whole numbers, truth values or words")
    return labels


@frozen
class Record:
    """One person's features, of which the ``columns`` are sent through a mechanism; the others are known.

    ``truth``, if given, must be the label the classifier gives without noise: a person who is misclassified already
    has no right answer to keep.

    >>> record = Record(Classifier(lambda points: points[:, 0] > 0.5, 2), np.array([0.9, 0.1]), (0,))
    >>> record.keeps([[0.4], [0.6]]).tolist()
    [False, True]
    """

    classifier: Classifier
    x: Floats = field(eq=content)
    columns: tuple[int, ...] = ()
    truth: Any = None
    row: int = 1
    label: Any = None

    def __attrs_post_init__(self) -> None:
        values = require_features(np.atleast_2d(_numbers(self.x)), self.classifier, self.row)[0]
        columns = tuple(self.columns) or tuple(range(self.classifier.features))
        if len(set(columns)) < len(columns) or not all(0 <= column < values.size for column in columns):
            raise InvalidInput("columns", columns, f"be different numbers from 0 to {values.size - 1}")
        label = self.classifier.labels(values)[0]
        if self.truth is not None and label != self.truth:
            step = "leave the row out: the chance that noise keeps a wrong label is no utility"
            raise InvalidData(f"data row {self.row}", self.truth, "be classified rightly without noise", step)
        values.setflags(write=False)
        settle(self, x=values, columns=columns, label=label)

    @property
    def sent(self) -> Floats:
        """The values that go through a mechanism."""
        return np.asarray(self.x[list(self.columns)])

    def filled(self, values: ArrayLike) -> Floats:
        """Whole points: the ``values`` of the columns that are sent, and this person's other features."""
        part = np.atleast_2d(np.asarray(values, dtype=np.float64))
        points = np.repeat(self.x[None, :], len(part), axis=0)
        points[:, list(self.columns)] = part
        return points

    def keeps(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which values have this person's label."""
        return np.asarray(self.classifier.labels(self.filled(values)) == self.label)


def _numbers(values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):  # whose words quote a value
        pass
    raise InvalidInput("features", "others", "be numbers, as many in every row", "encode words as numbers in [0, 1]")


@sealed
def require_features(rows: Floats, classifier: Classifier, first: int = 1) -> Floats:
    """Rows of features in [0, 1]; the first that is none is named by row and column, without its value."""
    array = _numbers(rows).copy()
    if array.ndim != 2 or array.shape[1] != classifier.features:
        raise InvalidInput("features", array.shape, f"be rows of {classifier.features} numbers")
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        called = repr(classifier.names[column]) if classifier.names else str(column)
        step = "scale by bounds known beforehand, as for training, or move them inside (--clip)"
        raise InvalidData(f"column {called}, data row {first + row},", array[row, column], "lie in [0, 1]", step)
    return array


def columns_named(classifier: Classifier, names: Sequence[str]) -> tuple[int, ...]:
    """The places of features by name; an unknown one is an `InvalidInput` that lists them."""
    from mechdesign.data.columns import require_columns

    require_columns(names, classifier.names, "the features of the classifier")
    return tuple(classifier.names.index(name) for name in names)


def of_estimator(model: Any, name: str = "") -> Classifier:
    """A fitted scikit-learn estimator, or anything with ``predict`` and ``n_features_in_``."""
    if not callable(getattr(model, "predict", None)) or not hasattr(model, "n_features_in_"):
        step = "else build Classifier(predict, features) yourself"
        raise InvalidInput("model", type(model).__name__, "be fitted and have predict and n_features_in_", step)
    names = tuple(map(str, getattr(model, "feature_names_in_", ())))
    classes = np.asarray(getattr(model, "classes_", ()))
    # labels that were written 0.0 and 1.0 when it was fitted are labels all the same
    is_whole = classes.ndim == 1 and classes.size > 0 and classes.dtype.kind == "f" and bool((classes % 1 == 0).all())

    def predict(points: Floats) -> Any:
        with warnings.catch_warnings():  # the names were checked where the columns were read
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            answer = model.predict(points)
        return np.asarray(answer).astype(np.int64) if is_whole else answer

    return Classifier(predict, int(model.n_features_in_), name or type(model).__name__, names, model)


def load_model(path: Path | str, *, unpickle: bool = False) -> Classifier:
    """The classifier in a ``.skops`` or ``.onnx`` file, or in a pickle that the caller trusts (``unpickle=True``)."""
    target = Path(path)
    form = target.suffix.lower()
    if form not in (*PICKLES, *SAFE):
        raise FileProblem("model file", str(target), f"end in {', '.join((*SAFE, *PICKLES))}")
    if not target.is_file():
        raise FileProblem("model file", str(target), "be a file" if target.exists() else "exist")
    if form in PICKLES and not unpickle:
        raise FileProblem("model file", str(target), "be trusted to be opened", f"{UNPICKLING_RUNS_CODE}; --unpickle")
    load = {".skops": _skops, ".onnx": _onnx}.get(form, _pickle)
    return load(target)


def _pickle(path: Path) -> Classifier:
    try:
        model = _opened(path)
    except Exception as error:
        step = "was it written by another version of its library?"
        raise FileProblem("model file", str(path), f"be a whole pickle ({type(error).__name__})", step) from None
    return of_estimator(model, path.name)


def _opened(path: Path) -> object:
    """What a pickle holds. joblib, which comes with scikit-learn, writes many a .pkl file, and reads plain ones too."""
    try:
        import joblib
    except ImportError:
        import pickle

        return pickle.loads(path.read_bytes())
    return joblib.load(path)


def _skops(path: Path) -> Classifier:
    try:
        from skops.io import get_untrusted_types, load
    except ImportError as error:
        raise unusable_extra("reading .skops models", "models", error) from None
    try:
        unknown = get_untrusted_types(file=path)
        model = None if unknown else load(path, trusted=[])
    except Exception as error:
        raise FileProblem("model file", str(path), f"be a whole .skops file ({type(error).__name__})") from None
    if unknown:
        rule = f"hold types that skops trusts, and holds {', '.join(map(str, unknown[:5]))}"
        raise FileProblem("model file", str(path), rule, "convert it to .onnx")
    return of_estimator(model, path.name)


def _onnx(path: Path) -> Classifier:
    try:
        from onnxruntime import InferenceSession
    except ImportError as error:
        raise unusable_extra("reading .onnx models", "models", error) from None
    try:
        session = InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:
        raise FileProblem("model file", str(path), f"be a whole .onnx file ({type(error).__name__})") from None
    given, wanted = session.get_inputs(), session.get_outputs()
    width = given[0].shape[-1] if len(given) == 1 and given[0].shape else None
    if not isinstance(width, int):
        raise FileProblem("model file", str(path), "have one input, an array with a known number of columns")
    kind = np.float64 if given[0].type == "tensor(double)" else np.float32

    def predict(points: Floats) -> Any:
        return session.run([wanted[0].name], {given[0].name: points.astype(kind)})[0]

    return Classifier(predict, width, path.name)
