"""Which of the papers' data sets lie in a folder, by names and by columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.papers.claims.data_sets import digest_of, found_in, spelled

MOTION = ",attitude.roll,userAcceleration.x\n0,1.5,0.2\n"


def put(folder: Path, *names: str, text: str = "") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_data_sets_are_found_by_name_and_by_columns_whatever_their_case(tmp_path: Path) -> None:
    put(tmp_path, "deep/er/KOSARAK.DAT", "MSNBC990928.seq", "bms/BMS-POS.csv", text="1 2\n")
    put(tmp_path, "taxi/train.csv", text='"TRIP_ID","POLYLINE"\n')
    put(tmp_path, "CHI.csv", "dataset_TSMC2014_TKY.csv", text="User ID,Latitude,Longitude\n")
    put(tmp_path, "a/normalized.csv", text="Age,hypertension,heart_disease,ever_married,avg_glucose_level,BMI,Stroke\n")
    put(tmp_path, "EC.mat", "impus.mat", "kosarak.mat", "notes.txt", "spec.mat")
    assert set(found_in(tmp_path)) == {
        *("kosarak", "msnbc", "bms-pos", "porto", "chi", "tky", "stroke", "ec.mat", "impus.mat", "kosarak.mat")
    }


def test_the_parts_of_motion_sense_are_those_of_one_folder(tmp_path: Path) -> None:
    for folder in ("dws_1", "jog_9"):
        put(tmp_path, *(f"{folder}/sub_{k}.csv" for k in (1, 2, 3, 24)), text=MOTION)
    found = found_in(tmp_path)["motion"]
    assert [path.parent.name + path.name for path in found] == ["dws_1sub_1.csv", "dws_1sub_2.csv", "dws_1sub_3.csv"]


def test_a_part_that_is_missing_is_said(tmp_path: Path) -> None:
    put(tmp_path, "sub_1.csv", "sub_3.csv", text=MOTION)
    with pytest.raises(InvalidInput, match="hold, in one folder, MotionSense"):
        found_in(tmp_path)


def test_two_files_that_could_be_one_data_set_are_no_guess(tmp_path: Path) -> None:
    put(tmp_path, "a/kosarak.dat", "b/kosarak.dat", text="1\n")
    with pytest.raises(InvalidInput, match="hold one file of Kosarak"):
        found_in(tmp_path)


@pytest.mark.parametrize("name", ["", "none"])
def test_a_folder_without_data_sets_or_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileProblem, match="data folder"):
        found_in(tmp_path / name)


def test_a_digest_changes_with_the_content_alone(tmp_path: Path) -> None:
    put(tmp_path, "a", "b", text="1")
    before = digest_of((tmp_path / "a",))
    assert before == digest_of((tmp_path / "b",))
    put(tmp_path, "a", text="2")
    assert before != digest_of((tmp_path / "a",))


def test_columns_are_named_as_the_file_spells_them(tmp_path: Path) -> None:
    put(tmp_path, "a.csv", text="\ufeffAGE,Bmi\n")
    assert (spelled(tmp_path / "a.csv", "age"), spelled(tmp_path / "a.csv", "BMI")) == ("AGE", "Bmi")
