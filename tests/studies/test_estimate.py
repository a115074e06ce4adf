"""What reports say, asked for from Python: of a table, of a survey, of bins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.studies.counts import CountsOfSurvey
from mechdesign.studies.estimate import EstimateAnswer
from mechdesign.studies.frequencies.survey import Survey
from mechdesign.words.domains import Interval


@pytest.fixture
def mean(tmp_path: Path) -> tuple[Path, Path]:
    """A table, and reports of it: as many of each end as an honest half would send."""
    table, reports = tmp_path / "table.json", tmp_path / "reports.csv"
    md.make_table(catalogue.duchi(1.0, Interval(-1, 1)), 16).save(table)
    ends = md.tables.sample(md.load_table(table), np.array([-1.0, 1.0] * 500))
    reports.write_text("mood\n" + "\n".join(map(repr, ends.tolist())) + "\n")
    return table, reports


def test_a_mean_is_text_json_and_a_row(mean: tuple[Path, Path]) -> None:
    found = md.EstimateStudy(*mean, "mood").answer()
    assert isinstance(found, EstimateAnswer)
    said, row = found.as_dict(), found.frame().iloc[0]
    assert said["estimate"] == row["estimate"]
    assert said["lower"] < said["estimate"] < said["upper"]
    assert "with confidence 0.95, from 1,000 reports" in str(found)


def test_a_surer_interval_is_wider(mean: tuple[Path, Path]) -> None:
    usual, surer = (md.EstimateStudy(*mean, "mood", confidence=sure).answer().as_dict() for sure in (None, 0.99))
    assert surer["lower"] < usual["lower"] < usual["upper"] < surer["upper"]


def test_a_survey_in_place_of_a_table_says_what_its_options_say(tmp_path: Path) -> None:
    survey, reports = tmp_path / "survey.json", tmp_path / "reports.csv"
    Survey("grr", 1.0, ("no", "yes")).write(survey)
    reports.write_text("no\n" * 60 + "yes\n" * 40)
    found = md.EstimateStudy(survey, reports).answer()
    assert isinstance(found, CountsOfSurvey)
    assert found.json() == md.CountStudy(reports, protocol="grr", eps=1.0, domain="no,yes").answer().json()
    assert found.json() == md.CountStudy(reports, surveys=survey).answer().json()
    assert found.frame()["item"].tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"bins": 5, "codes": True}, "be left out with --bins"),
        ({"bins": 5, "confidence": 0.95}, "be left out with --bins"),
        ({"smooth": True}, "come with --bins"),
        ({"periods": 1}, "come with --device"),
        ({"device": "device.json"}, "be said where a device made the reports"),
    ],
)
def test_an_option_without_effect_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        md.EstimateStudy("table.json", "reports.csv", **more)


def test_options_and_a_survey_are_refused_together(tmp_path: Path) -> None:
    Survey("grr", 1.0, ("no", "yes")).write(tmp_path / "survey.json")
    with pytest.raises(InvalidInput, match="the survey says it"):
        md.CountStudy("reports.csv", surveys=tmp_path / "survey.json", eps=1.0).answer()
