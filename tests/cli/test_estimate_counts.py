"""`estimate-counts`: from a file of reports to frequencies, counts and intervals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from mechdesign.studies.frequencies.estimators import ibu_of_groups, of_support
from mechdesign.studies.frequencies.protocols import PROTOCOLS, protocol
from mechdesign.studies.frequencies.survey import NEED_LIMIT, Survey

COUNTS = [700, 200, 80, 20]
VALUES = np.repeat(np.arange(4), COUNTS)
ITEMS = "ape,bee,cat,dog"


@pytest.fixture
def reports(tmp_path: Path) -> str:
    sent = protocol("grr", 2.0, 4).report(VALUES, np.random.default_rng(4))
    path = tmp_path / "reports.csv"
    path.write_text("\n".join(ITEMS.split(",")[v] for v in sent.tolist()))
    return str(path)


def test_items_come_with_the_protocol_s_own_errors(run: Any, reports: str) -> None:
    options = ("-p", "grr", "-e", "2", "--domain", ITEMS, "-m", "raw", "--for", "users")
    document = run("estimate-counts", reports, *options, "--json").json
    assert document["for"] == "users"
    law, z = protocol("grr", 2.0, 4), NormalDist().inv_cdf(0.975)
    said = {"protocol": "GRR", "eps": 2.0, "items": 4, "reports": 1000, "method": "raw", "p": law.p, "q": law.q}
    said["client"] = "mechdesign"
    assert document["problem"] == said
    text = Path(reports).read_text().split()
    expected = law.estimate([text.count(item) for item in ITEMS.split(",")], 1000)
    for row, f in zip(document["items"], expected.tolist(), strict=True):
        error = float(law.variance(min(max(f, 0), 1), 1000)) ** 0.5
        assert row["frequency"] == row["unbiased"] == pytest.approx(f)
        assert row["count"] == pytest.approx(1000 * f)
        assert row["standard_error"] == pytest.approx(error)
        assert row["interval"] == pytest.approx([max(f - z * error, 0), f + z * error], abs=2 / 1000)  # of users


def test_post_processed_frequencies_are_a_distribution(run: Any, reports: str) -> None:
    document = run("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS, "--json").json
    assert sum(row["frequency"] for row in document["items"]) == pytest.approx(1)
    assert document["problem"]["method"] == "norm-sub"


def test_ibu_and_maximum_likelihood_agree_for_randomised_response(run: Any, reports: str) -> None:
    options = ("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS, "--json", "-m")
    assert run(*options, "ibu").json["items"] == run(*options, "ml").json["items"]


def test_the_table_starts_with_the_most_frequent(run: Any, reports: str) -> None:
    lines = run("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS).out.splitlines()
    assert lines[0] == "GRR, eps = 2, p* = 0.71123, q* = 0.096255, 1,000 reports, norm-sub"
    assert [line.split()[0] for line in lines[2:4]] == ["ape", "bee"]


def test_files_hold_all_items(run: Any, reports: str, tmp_path: Path) -> None:
    options = ("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS, "--out")
    for name in ("counts.csv", "counts.json"):
        assert run(*options, str(tmp_path / name)).code == 0
    items = json.loads((tmp_path / "counts.json").read_text())["items"]
    with (tmp_path / "counts.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["item"] for row in rows] == ITEMS.split(",")
    assert [float(row["low"]) for row in rows] == [item["interval"][0] for item in items]
    assert {row["for"] for row in rows} == {"population"}
    assert run(*options, str(tmp_path / "counts.csv")).code == 2
    assert run(*options, str(tmp_path / "counts.csv"), "--force").code == 0


def test_bits_seeds_and_noise_are_read_too(run: Any, tmp_path: Path) -> None:
    for name in ("oue", "olh", "she"):
        sent = protocol(name, 4.0, 4).report(VALUES, np.random.default_rng(5))
        path = tmp_path / f"{name}.npy"
        np.save(path, sent)
        rows = run("estimate-counts", str(path), "-p", name, "-e", "4", "--domain", ITEMS, "--json").json["items"]
        assert rows[0]["frequency"] == pytest.approx(0.7, abs=0.15)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("l-oue", {"limit": 6.0}), ("l-soue", {"limit": 6.0}), ("l-grr", {"limit": 9.0}), ("olh", {"g": 16}),
        ("l-olh", {"g": 16}), ("ss", {"subset": 2}), ("the", {"threshold": 0.8}),
    ],
    ids=str,
)  # fmt: skip
def test_the_options_of_the_clients_are_those_of_the_server(
    run: Any, tmp_path: Path, name: str, options: dict[str, float]
) -> None:
    law = protocol(name, 3.0, 4, **options)
    path = tmp_path / "reports.npy"
    sent = law.report(VALUES, np.random.default_rng(5))
    np.save(path, sent)
    words = [word for option, value in options.items() for word in (f"--{option}", str(value))]
    arguments = ("estimate-counts", str(path), "-p", name, "-e", "3", "--domain", ITEMS, "-m", "raw", "--json")
    said = run(*arguments, *words).json
    found = [row["frequency"] for row in said["items"]]
    assert found == pytest.approx(law.estimate(law.support(sent), VALUES.size).tolist())
    assert (said["problem"]["p"], said["problem"]["q"]) == (law.p, law.q)
    assert options.items() <= said["problem"].items()


@pytest.mark.parametrize("name", ["l-oue", "l-soue", "L-SOUE"])
def test_laws_that_depend_on_the_limit_are_not_guessed(run: Any, reports: str, name: str) -> None:
    outcome = run("estimate-counts", reports, "-p", name, "-e", "2", "--domain", ITEMS)
    assert outcome.code == 2
    assert "limit must be given" in outcome.err
    different = [protocol(name, 2.0, 4, limit=limit).q for limit in (4.0, 8.0)]
    assert abs(different[0] - different[1]) > 1e-3


def test_every_law_that_depends_on_the_limit_needs_it() -> None:
    """The first report, at two limits, of all memoised protocols."""
    keys = [line.key for line in PROTOCOLS if line.longitudinal]
    laws = {key: [protocol(key, 1.0, 10, limit=limit) for limit in (2.0, 5.0)] for key in keys}
    depend = {key for key, (a, b) in laws.items() if abs(a.p - b.p) + abs(a.q - b.q) > 1e-9}
    assert depend == set(NEED_LIMIT)


def test_the_reports_are_never_overwritten(run: Any, reports: str, tmp_path: Path) -> None:
    before = Path(reports).read_bytes()
    (tmp_path / "link.csv").symlink_to(reports)
    for out in (reports, str(tmp_path / "link.csv")):
        options = ("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS, "--out", out, "--force")
        outcome = run(*options)
        assert outcome.code == 2
        assert "never overwritten" in outcome.err
    assert Path(reports).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"-p": "xyz"}, "protocol"),
        ({"-e": "0"}, "eps"),
        ({"--domain": "ape"}, "two items"),
        ({"--domain": "ape,ape"}, "once"),
        ({"--domain": "ape,bee,cat"}, "items of the domain"),
        ({"-m": "norm-max"}, "method"),
        ({"-m": "ibu", "-p": "she"}, "no counts"),
        ({"-m": "ml", "-p": "oue"}, "no items"),
        ({"--limit": "4"}, "option of grr"),
        ({"--g": "4"}, "option of grr"),
        ({"--subset": "1"}, "option of grr"),
        ({"-p": "olh", "--g": "1"}, "g must be a whole number"),
        ({"-p": "l-oue", "--limit": "1"}, "limit must be at least eps"),
        ({"--out": "counts.txt"}, ".csv or .json"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, reports: str, change: dict[str, str], words: str) -> None:
    options = {"-p": "grr", "-e": "2", "--domain": ITEMS} | change
    outcome = run("estimate-counts", reports, *(part for pair in options.items() for part in pair))
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""


def test_a_file_that_is_not_there_is_refused(run: Any, tmp_path: Path) -> None:
    outcome = run("estimate-counts", str(tmp_path / "none.csv"), "-p", "grr", "-e", "1", "--domain", ITEMS)
    assert outcome.code == 2
    assert "readable" in outcome.err


# -- reports that do not fit -------------------------------------------------------------------------------------------


def saved(path: Path, sent: Any) -> str:
    np.save(path, sent)
    return str(path)


def test_reports_from_before_the_domain_grew_are_refused(run: Any, tmp_path: Path) -> None:
    """OLH of 5 items hashes to 3 values, of 100 to 4: once read as 59 deviations of error without a word."""
    data = np.repeat(np.arange(5), [25_000, 10_000, 7_500, 5_000, 2_500])
    file = saved(tmp_path / "r.npy", protocol("olh", 1.0, 5).report(data, np.random.default_rng(1)))
    outcome = run(
        "estimate-counts", file, "-p", "olh", "-e", "1", "--domain", "0..99", "--out", str(tmp_path / "o.csv")
    )
    assert outcome.code == 2
    assert outcome.out == ""
    assert "deviations off" in outcome.err
    assert "domain" in outcome.err
    assert not (tmp_path / "o.csv").exists()


def test_a_survey_reads_them_rightly(run: Any, tmp_path: Path) -> None:
    survey = str(tmp_path / "survey.json")
    assert run("protocols", "--eps", "1", "--domain", "a,b,c,d,e", "-p", "olh", "--out", survey).code == 0
    data = np.repeat(np.arange(5), [25_000, 10_000, 7_500, 5_000, 2_500])
    file = saved(tmp_path / "r.npy", Survey.read(survey).law.report(data, np.random.default_rng(1)))
    document = run("estimate-counts", file, "--survey", survey, "-m", "raw", "--json").json
    assert document["problem"]["g"] == 3
    for row, share in zip(document["items"], (0.5, 0.2, 0.15, 0.1, 0.05), strict=True):
        assert abs(row["unbiased"] - share) < 4 * row["standard_error"]
    assert document["fit"]["deviations"] < 4.5


def test_reports_of_another_epsilon_are_refused(run: Any, tmp_path: Path) -> None:
    sent = protocol("oue", 1.0, 50).report(np.arange(20_000) % 50, np.random.default_rng(1))
    outcome = run("estimate-counts", saved(tmp_path / "r.npy", sent), "-p", "oue", "-e", "2", "--domain", "0..49")
    assert outcome.code == 2
    assert "the shares add to 20" in outcome.err


def test_reports_of_other_packages_are_read_by_name(run: Any) -> None:
    file = Path(__file__).parents[1] / "studies" / "frequencies" / "peers" / "multi-freq-ldpy.olh.npy"
    options = ("estimate-counts", str(file), "-p", "olh", "-e", "1.5", "--domain", "0..5", "--json")
    document = run(*options, "--client", "multi-freq-ldpy").json
    assert (document["problem"]["client"], document["problem"]["g"]) == ("multi-freq-ldpy", 5)
    assert document["items"][0]["unbiased"] == pytest.approx(0.4, abs=0.2)
    ours = run(*options, "--g", "5")
    assert ours.code == 2
    assert "deviations off" in ours.err


def test_seeds_that_repeat_are_refused(run: Any, tmp_path: Path) -> None:
    """The same users twice are not twice the users: intervals would be too short by 1.4."""
    sent = protocol("olh", 1.0, 4).report(VALUES, np.random.default_rng(1))
    file = saved(tmp_path / "r.npy", np.concatenate([sent, sent]))
    outcome = run("estimate-counts", file, "-p", "olh", "-e", "1", "--domain", ITEMS)
    assert outcome.code == 2
    assert "seeds that repeat" in outcome.err


def test_doubtful_reports_are_called_so(run: Any, tmp_path: Path) -> None:
    """516 ones more than are due, 5.3 deviations: an answer, and a word on stderr."""
    law = protocol("sue", 1.0, 4)
    ones = np.array([law.p] + [law.q] * 3) * 10_000 + 129
    bits = (np.arange(10_000)[:, None] < ones).astype(np.uint8)
    outcome = run(
        "estimate-counts", saved(tmp_path / "r.npy", bits), "-p", "sue", "-e", "1", "--domain", ITEMS, "--json"
    )
    assert outcome.code == 0
    assert 1e-9 < outcome.json["fit"]["chance"] < 1e-4
    assert "doubtful reports: the shares add to" in outcome.err


def test_the_output_names_whose_share_it_is(run: Any, reports: str) -> None:
    options = ("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS)
    wide, narrow = (run(*options, "--for", of, "--json").json for of in ("population", "users"))
    assert run(*options, "--json").json == wide
    assert (wide["for"], narrow["for"]) == ("population", "users")
    for one, other in zip(wide["items"], narrow["items"], strict=True):
        assert one["standard_error"] >= other["standard_error"]
        assert one["unbiased"] == other["unbiased"]
    assert "the population the users were drawn from" in run(*options).out
    assert "of these users" in run(*options, "--for", "users").out.replace("for shares of", "of")


def test_the_fit_is_told(run: Any, reports: str, tmp_path: Path) -> None:
    assert "Fit: " in run("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS).out
    sent = protocol("sue", 1.0, 4).report(VALUES, np.random.default_rng(5))
    outcome = run("estimate-counts", saved(tmp_path / "r.npy", sent), "-p", "sue", "-e", "1", "--domain", ITEMS)
    assert "deviations off (the worst of 3 tests" in outcome.out


def test_stated_chances_are_used(run: Any, reports: str) -> None:
    options = ("estimate-counts", reports, "-p", "grr", "-e", "2", "--domain", ITEMS, "--json")
    law = protocol("grr", 2.0, 4)
    same = run(*options, "--p", f"{law.p:.8f}").json
    assert same["items"][0]["unbiased"] == pytest.approx(run(*options).json["items"][0]["unbiased"], rel=1e-6)
    other = run(*options, "--p", "0.8", "-m", "raw").json["problem"]
    assert (other["p"], other["q"]) == pytest.approx((0.8, 0.2 / 3))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-e", "1", "--domain", ITEMS), "protocol must be given"),
        (("-p", "grr", "--domain", ITEMS), "eps must be given"),
        (("-p", "grr", "-e", "1"), "domain must be given"),
        (("-p", "grr", "-e", "2", "--domain", ITEMS, "--client", "nobody"), "client must be one of"),
        (("-p", "grr", "-e", "2", "--domain", ITEMS, "--for", "people"), "for must be"),
        (("-p", "grr", "-e", "2", "--domain", ITEMS, "--pairs", "x"), "order of pairs"),
        (("-p", "grr", "-e", "2", "--domain", ITEMS, "--q", "0.1"), "p must be given"),
        (("--survey", "nowhere.json"), "readable"),
    ],
    ids=str,
)
def test_what_is_missing_is_asked_for(run: Any, reports: str, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("estimate-counts", reports, *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())


@pytest.mark.parametrize("extra", [("-e", "1"), ("-p", "grr"), ("--g", "3"), ("--client", "ldp3")], ids=str)
def test_a_survey_and_options_contradict_each_other(
    run: Any, reports: str, tmp_path: Path, extra: tuple[str, ...]
) -> None:
    survey = Survey("grr", 2.0, tuple(ITEMS.split(","))).write(tmp_path / "survey.json")
    assert run("estimate-counts", reports, "--survey", str(survey)).code == 0
    outcome = run("estimate-counts", reports, "--survey", str(survey), *extra)
    assert outcome.code == 2
    assert "the survey says it" in outcome.err


# -- groups: users with epsilons or protocols of their own -------------------------------------------------------------


@pytest.fixture
def groups(tmp_path: Path) -> tuple[str, ...]:
    """Randomised response at eps 1 from 400 users and unary encoding at eps 3 from 600, of one population."""
    said = []
    for k, (name, epsilon, n) in enumerate((("grr", 1.0, 400), ("oue", 3.0, 600))):
        survey = Survey(name, epsilon, tuple(ITEMS.split(",")))
        survey.write(tmp_path / f"s{k}.json")
        values = np.repeat(np.arange(4), [n * count // 1000 for count in COUNTS])
        np.save(tmp_path / f"r{k}.npy", survey.law.report(values, np.random.default_rng(k)))
        said.append((str(tmp_path / f"r{k}.npy"), str(tmp_path / f"s{k}.json")))
    return said[0][0], said[1][0], "--survey", said[0][1], "--survey", said[1][1]


def test_ibu_of_groups_is_the_likelihood_of_all_their_reports(run: Any, groups: tuple[str, ...]) -> None:
    document = run("estimate-counts", *groups, "-m", "ibu", "--json").json
    parts = []
    for place in (0, 1):
        survey = Survey.read(groups[(3, 5)[place]])
        parts.append(of_support(survey.law.support(np.load(groups[place])), survey.law.p, survey.law.q))
    found = ibu_of_groups(parts)
    assert [row["frequency"] for row in document["items"]] == pytest.approx(found.frequencies.tolist())
    assert document["gap"] == found.gap <= 1e-10
    assert [(one["protocol"], one["eps"], one["reports"]) for one in document["problem"]["groups"]] == [
        ("GRR", 1.0, 400), ("OUE", 3.0, 600)
    ]  # fmt: skip
    assert document["problem"]["reports"] == 1000
    assert len(document["fits"]) == 2


def test_unbiased_shares_of_groups_are_averaged_by_users(run: Any, groups: tuple[str, ...]) -> None:
    together = run("estimate-counts", *groups, "-m", "raw", "--json").json["items"]
    each = [
        run("estimate-counts", groups[k], "--survey", groups[(3, 5)[k]], "-m", "raw", "--json").json for k in (0, 1)
    ]
    for place, row in enumerate(together):
        alone = [one["items"][place]["unbiased"] for one in each]
        assert row["unbiased"] == pytest.approx(0.4 * alone[0] + 0.6 * alone[1])
        assert row["interval"][0] < row["unbiased"] < row["interval"][1]


def test_the_table_of_groups_says_what_is_taken_for_granted(run: Any, groups: tuple[str, ...], tmp_path: Path) -> None:
    out = run("estimate-counts", *groups, "-m", "ibu", "--out", str(tmp_path / "c.csv")).out
    assert "r0.npy: GRR, eps = 1" in out
    assert "2 groups, 1,000 reports, ibu" in out
    assert "ibu takes all users for samples of one population" in out
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda said: (*said[:2], *said[2:4]), "be one for each file of reports"),
        (lambda said: said[:2], "be one for each file of reports"),
        (lambda said: (said[0], *said[2:]), "be one for each file of reports"),
        (lambda said: (*said, "-p", "grr"), "the surveys say it"),
        (lambda said: (*said, "--g", "3"), "the surveys say it"),
        (lambda said: (*said, "-m", "ml"), "be another one for several groups"),
    ],
)
def test_groups_that_make_no_sense_are_refused(run: Any, groups: tuple[str, ...], change: Any, words: str) -> None:
    outcome = run("estimate-counts", *change(groups))
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_groups_of_other_items_are_refused(run: Any, groups: tuple[str, ...]) -> None:
    Survey("oue", 3.0, ("dog", "cat", "bee", "ape")).write(groups[5], overwrite=True)
    outcome = run("estimate-counts", *groups)
    assert outcome.code == 2
    assert "have the items of" in outcome.err
