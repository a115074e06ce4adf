"""Claims on data that a folder holds: files made here in the formats of the papers' data sets."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import io

from mechdesign.data.baskets import one_each
from mechdesign.errors import InvalidData
from mechdesign.papers.claims import CLAIMS, LEFT_OUT, Claim, judge, on_data, with_data
from mechdesign.papers.claims.data_sets import DATA_SETS
from mechdesign.papers.report import parts

RNG = np.random.default_rng(7)
STROKE = ("age", "hypertension", "heart_disease", "ever_married", "avg_glucose_level", "bmi")


def table(path: Path, names: tuple[str, ...], columns: Any) -> None:
    rows = [",".join(map(repr, row)) for row in np.column_stack(columns).tolist()]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All data sets, small."""
    place: Path = tmp_path_factory.mktemp("data")
    for k in (1, 2, 3):
        names = ("", "attitude.roll", "userAcceleration.x")
        table(place / f"sub_{k}.csv", names, (range(50), RNG.normal(0, 1, 50), RNG.normal(0, 0.3, 50)))
    for city, middle in (("chi", (41.8, -87.7)), ("tky", (35.7, 139.7))):
        places = RNG.normal(middle, 0.1, (60, 2))
        table(place / f"{city}.csv", ("User ID", "Latitude", "Longitude"), (np.repeat(range(6), 10), places))
    age = RNG.random(200)
    others = [RNG.random(200) for _ in STROKE[1:]]
    table(place / "stroke.csv", (*STROKE, "stroke"), (age, *others, (age + RNG.normal(0, 0.2, 200) > 0.6)))
    for name, array, count in (("kosarak", "kos", 20_000), ("amazon", "amazon", 10_000)):
        io.savemat(place / f"{name}.mat", {array: (np.arange(count) < 659).astype(np.uint8)[:, None]})
    lines = [" ".join(map(str, RNG.zipf(1.8, 4) % 300)) for _ in range(3000)]
    for name in ("kosarak.dat", "bms-pos.csv", "msnbc.seq"):
        (place / name).write_text("\n".join(lines) + "\n")
    starts = RNG.normal((-8.6, 41.15), 0.02, (2000, 2))
    trips = "".join(f'"1","[[{x},{y}]]"\n' for x, y in starts.tolist())
    (place / "porto.csv").write_text('"TRIP_ID","POLYLINE"\n' + trips)
    return place


@pytest.fixture(scope="module")
def claims(folder: Path) -> dict[str, Claim]:
    return {claim.key: claim for claim in with_data(folder) if claim.data}


def values(claim: Claim) -> list[float]:
    return [low for low, _ in judge(replace(claim, mended=None, erratum=None)).ours]


def test_every_data_set_makes_claims_and_everything_left_for_data_is_among_them(claims: dict[str, Claim]) -> None:
    wanted = {key for left in LEFT_OUT for key in left.claims}
    assert wanted - set(claims) == {"classifier.figure-7.6-box"}  # no bank here
    assert {"jrr.table-4.3-kosarak", "jrr.table-4.3-amazon", "optimus.figure-5.1"} <= set(claims)
    assert {key for keys, _ in on_data._MAKERS for key in keys} == {data_set.key for data_set in DATA_SETS}


def test_what_is_left_out_for_lack_of_data_says_that_a_folder_computes_it() -> None:
    for left in LEFT_OUT:
        assert ("--data FOLDER computes" in left.why) == bool(left.claims), left.place


def test_claims_on_data_are_not_among_the_others(claims: dict[str, Claim]) -> None:
    assert {claim.key for claim in CLAIMS} & set(claims) == {"optimus.figure-5.1"}
    assert not any(claim.data for claim in CLAIMS)


def test_the_papers_own_data_take_the_place_of_a_stand_in(folder: Path, claims: dict[str, Claim]) -> None:
    assert not claims["optimus.figure-5.1"].stand_in
    assert [claim.key for claim in with_data(folder)].count("optimus.figure-5.1") == 1
    counts = one_each(folder / "msnbc.seq").counts
    compute: Any = claims["optimus.figure-5.1"].compute
    assert compute.args[0].tolist() == counts.tolist()


def test_users_and_ones_are_counted(claims: dict[str, Claim]) -> None:
    assert judge(claims["jrr.table-4.3-kosarak"]).verdict == "holds"
    assert values(claims["jrr.table-4.3-amazon"]) == [10_000, 659]
    assert judge(claims["jrr.table-4.3-amazon"]).verdict == "does not hold"


def test_errors_of_means_are_those_of_a_plain_loop(folder: Path, monkeypatch: Any) -> None:
    """OGPM's and PM-C's at one eps from reports drawn here: 2,000 trials each, seed 3. A standard error is at most 2.4%
    of a difference, so five are 12%, the false-positive rate 1e-6."""
    monkeypatch.setattr(on_data, "_EPSILONS", (2.0,))
    monkeypatch.setattr(on_data, "_TRIALS", 2000)
    values_of = on_data._accelerations(tuple(folder / f"sub_{k}.csv" for k in (1, 2, 3)))
    found = [on_data._mean_error(values_of, on_data._LINE, name, on_data._mean_off) for name in ("ogpm", "pm-c")]
    raw = np.concatenate([np.loadtxt(folder / f"sub_{k}.csv", delimiter=",", skiprows=1)[:, 2] for k in (1, 2, 3)])
    x = (raw - raw.min()) / np.ptp(raw)
    rng, c = np.random.default_rng(3), math.exp(2)

    def errors(half: float, low: float, middle: Any, reach: float) -> float:
        """Window of width 2 half around the middle with weight, else uniform on [-reach, 1 + reach]; then squeezed."""
        length = 1 + 2 * reach
        anywhere = rng.random((2000, x.size)) < low * length
        place = rng.random((2000, x.size))
        told = np.where(anywhere, -reach + length * place, middle + half * (2 * place - 1))
        return float(np.abs(((told + reach) / length).mean(axis=1) - x.mean()).mean())

    root = math.exp(1.0)
    width = (root - 1) / (c - 1)
    ogpm = errors(width / 2, 1 / root, np.clip(x, width / 2, 1 - width / 2), 0.0)
    reach = (root + 1) / (root - 1)  # PM on [-1, 1]: outputs to C, a window of width C - 1
    low = (c - root) / (2 * root + 2) / c * 2  # on [0, 1]
    pm = errors((reach - 1) / 4, low, ((reach + 1) / 2 * (2 * x - 1) + 1) / 2, (reach - 1) / 2)
    assert found == pytest.approx([ogpm, pm], rel=0.12)


def test_the_two_distances_of_distributions_are_as_they_say() -> None:
    reports, data = RNG.random(400), RNG.random(400) ** 2
    shares = [np.histogram(of, bins=50, range=(0, 1))[0] / 400 for of in (reports, data)]
    counts = [np.histogram(of, bins=49, range=(0, 1))[0] / 400 for of in (reports, data)]
    printed = on_data._shares_off(on_data._LINE, reports, data)
    assert printed == pytest.approx(np.abs(shares[0] - shares[1]).sum())
    assert on_data._counts_off(on_data._LINE, reports, data) == pytest.approx(
        math.sqrt(((counts[0] - counts[1]) ** 2).sum())
    )


def test_paths_are_those_of_the_published_code(folder: Path) -> None:
    """Each user's places once, in the order of latitude, in the unit square."""
    paths, sides = on_data._paths((folder / "chi.csv",), 5)
    read = np.loadtxt(folder / "chi.csv", delimiter=",", skiprows=1)
    mine = np.round(read[read[:, 0] == 2, 1:], 5)
    low = np.round(read[:, 1:], 5).min(axis=0)
    assert len(paths) == 6
    assert np.allclose(list(paths)[2] * sides + low, mine[np.argsort(mine[:, 0])])


def test_the_part_of_a_box_is_that_of_drawn_points(folder: Path, claims: dict[str, Claim]) -> None:
    """100,000 points, seed 9: five standard errors are 0.8%, the false-positive rate 6e-7."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.model_selection import train_test_split

    read = np.loadtxt(folder / "stroke.csv", delimiter=",", skiprows=1)
    x, _, y, _ = train_test_split(read[:, :6], read[:, 6], test_size=0.2, random_state=42, stratify=read[:, 6])
    model = linear_model.LogisticRegression(random_state=42).fit(x, y)
    record = np.array([0.79, 1.0, 0.0, 1.0, 0.5804, 0.48])
    points = np.tile(record, (100_000, 1))
    rng = np.random.default_rng(9)
    points[:, 0], points[:, 5] = rng.uniform(0.63, 1, 100_000), rng.random(100_000)
    share = (model.predict(points) == model.predict([record])).mean()
    assert values(claims["classifier.figure-7.5-box"])[0] == pytest.approx(share, abs=0.008)


@pytest.mark.parametrize(("slope", "part"), [(0.0, 0.0), (2.0, 0.75), (-2.0, 0.0), (8.0, 0.9375)])
def test_the_positive_part_of_a_line_is_its_length_above_zero(slope: float, part: float) -> None:
    assert on_data._positive_part(np.array([-0.5]), slope, 0.0, 1.0)[0] == pytest.approx(part)


def test_every_trip_but_the_printed_part_is_on_the_cells(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(on_data, "_PORTO_USERS", 1900)
    cells = on_data._porto_cells((folder / "porto.csv",))
    assert cells.size == 225
    assert cells.sum() == pytest.approx(1900, abs=20)


def test_errors_after_processing_are_means_over_the_items(claims: dict[str, Claim]) -> None:
    """Norm moves all estimates alike: with many users it hardly changes their mean absolute error, which is known."""
    from mechdesign.studies.frequencies.protocols import protocol

    found = values(claims["ldp3.table-1-processed"])
    law = protocol("oue", 1.0, 128)
    expected = 1e3 * math.sqrt(2 / math.pi * float(law.variance(0.0, 3000)))
    assert len(found) == 24
    assert found[13] == pytest.approx(expected, rel=0.1)  # ten runs of 128 items: 2.1% a standard error
    assert found[12] < found[13]


def test_a_part_is_that_of_its_data(claims: dict[str, Claim]) -> None:
    claim = claims["jrr.table-4.3-kosarak"]
    assert parts.key_of(claim) != parts.key_of(replace(claim, data="other"))


def test_errors_in_data_name_the_file_and_show_no_value(tmp_path: Path) -> None:
    for k in (1, 2, 3):
        (tmp_path / f"sub_{k}.csv").write_text(",attitude.roll,userAcceleration.x\n0,1.5,secret\n")
    claim = next(claim for claim in with_data(tmp_path) if claim.key == "ogpm.figure-5.17")
    with pytest.raises(InvalidData, match=r"row 2 of sub_1.csv, column 'userAcceleration.x'") as error:
        claim.compute()
    assert "secret" not in str(error.value)
