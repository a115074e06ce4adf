"""Classifiers and model files: what ``predict`` may return, what records must be, and pickles that are not opened."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression

from mechdesign.errors import FileProblem, InvalidData, InvalidInput
from mechdesign.studies.classifiers import Classifier, Record, exact_survival, load_model, of_estimator, perturbation

SECRET = 7.1234567


def _raises(points: np.ndarray) -> Any:
    raise ValueError(f"bad value {points[0, 0]}")


@pytest.mark.parametrize(
    ("predict", "says"),
    [
        (_raises, "raised ValueError"),
        (lambda points: points[:, 0], "whole numbers"),
        (lambda points: points, "argmax"),
        (lambda points: np.zeros(len(points) + 1, dtype=int), "shape"),
        (lambda points: 1, "shape"),
        (lambda points: [None] * len(points), "whole numbers"),
    ],
)
def test_a_predict_that_gives_no_labels_is_told_what_to_give(predict: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        Classifier(predict, 2).labels(np.full((3, 2), 0.625))
    assert "0.625" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("predict", [lambda p: p[:, 0] > 0.5, lambda p: np.where(p[:, 0] > 0.5, "yes", "no")])
def test_truth_values_and_words_are_labels(predict: Callable[[Any], Any]) -> None:
    assert Record(Classifier(predict, 1), np.array([0.7])).keeps([[0.6], [0.2]]).tolist() == [True, False]


def test_features_outside_the_unit_interval_are_named_without_their_value() -> None:
    known = Classifier(lambda p: p[:, 0] > 0.5, 2, names=("age", "bmi"))
    for wrong in (SECRET, -SECRET, np.nan, np.inf):
        with pytest.raises(InvalidData, match=r"column 'bmi', data row 4, must lie in \[0, 1\]") as caught:
            Record(known, np.array([0.5, wrong]), row=4)
        assert "7.12" not in str(caught.value)


def test_a_record_that_is_misclassified_already_is_refused() -> None:
    with pytest.raises(InvalidData, match="data row 9"):
        Record(Classifier(lambda p: p[:, 0] > 0.5, 1), np.array([0.7]), truth=False, row=9)


@pytest.mark.parametrize("columns", [(0, 0), (2,), (-1,)])
def test_columns_that_are_none_are_refused(columns: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="columns"):
        Record(Classifier(lambda p: p[:, 0] > 0.5, 2), np.array([0.7, 0.1]), columns)


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("sprung"),)


@pytest.mark.parametrize("name", ["model.pkl", "model.pickle", "model.joblib"])
def test_no_pickle_is_opened_unless_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(FileProblem, match="skops"):
        load_model(name)
    assert not Path("sprung").exists()


def test_files_that_are_no_models_are_bad_input(tmp_path: Path) -> None:
    for name, content in (("a.txt", b""), ("b.pkl", b"nonsense"), ("c.pkl", pickle.dumps([1, 2]))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidInput):
            load_model(tmp_path / name, unpickle=True)
    with pytest.raises(FileProblem, match="exist"):
        load_model(tmp_path / "none.pkl", unpickle=True)


def fitted() -> tuple[Any, np.ndarray]:
    x, y = load_wine(return_X_y=True)
    x = (x - x.min(0)) / (x.max(0) - x.min(0))
    return LogisticRegression(max_iter=2000).fit(x, y), x


def test_a_trusted_pickle_predicts_what_its_model_does(tmp_path: Path) -> None:
    model, x = fitted()
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    assert (load_model(tmp_path / "m.pkl", unpickle=True).labels(x) == of_estimator(model).labels(x)).all()


@pytest.mark.parametrize("name", ["m.pkl", "m.joblib"])
def test_a_trusted_file_of_joblib_predicts_what_its_model_does(tmp_path: Path, name: str) -> None:
    joblib = pytest.importorskip("joblib", reason="joblib comes with scikit-learn")
    model, x = fitted()
    joblib.dump(model, tmp_path / name)
    assert (load_model(tmp_path / name, unpickle=True).labels(x) == of_estimator(model).labels(x)).all()


def test_a_skops_file_predicts_what_its_model_does_and_unknown_types_are_refused(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed (extra: models)")
    model, x = fitted()
    skops.dump(model, tmp_path / "m.skops")
    assert (load_model(tmp_path / "m.skops").labels(x) == model.predict(x)).all()
    skops.dump(Trap, tmp_path / "t.skops")
    with pytest.raises(FileProblem, match="trusts"):
        load_model(tmp_path / "t.skops")


def test_an_onnx_file_predicts_what_its_model_does(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (extra: models)")
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed, which writes the file")
    model, x = fitted()
    (tmp_path / "m.onnx").write_bytes(skl2onnx.to_onnx(model, x[:1].astype(np.float32)).SerializeToString())
    found = load_model(tmp_path / "m.onnx")
    assert found.features == 13
    assert (found.labels(x) == model.predict(x)).mean() > 0.99


def test_the_package_imports_no_scikit_learn() -> None:
    import subprocess
    import sys

    code = "import sys, mechdesign, mechdesign.studies.classifiers, mechdesign.cli; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_estimator_fitted_to_labels_written_as_whole_decimals_gives_whole_numbers() -> None:
    x, y = load_wine(return_X_y=True)
    x = (x - x.min(0)) / (x.max(0) - x.min(0))
    known = of_estimator(LogisticRegression(max_iter=2000).fit(x, y.astype(float)))
    assert known.labels(x).dtype.kind == "i"
    assert exact_survival(Record(known, x[0], (0,)), perturbation("pm", 2.0)).width < 1e-9


def test_words_in_place_of_features_are_refused_without_being_quoted() -> None:
    with pytest.raises(InvalidInput, match="be numbers") as caught:
        Record(Classifier(lambda p: p[:, 0] > 0.5, 1), np.array(["secret"]))
    assert "secret" not in str(caught.value)


def test_a_predict_that_writes_to_its_points_changes_no_record() -> None:
    def predict(points: np.ndarray) -> np.ndarray:
        points *= 0
        return points[:, 0] == 0

    assert Record(Classifier(predict, 2), np.array([0.25, 0.75])).x.tolist() == [0.25, 0.75]
