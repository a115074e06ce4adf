"""Reports other packages made are read by the name of the package; `peers/README.md` says how the files were made."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.clients import CLIENTS, PACKAGES, law_of_client, with_chances
from mechdesign.studies.frequencies.fit import examine, require_fit
from mechdesign.studies.frequencies.protocols import Grr, LocalHashing, protocol
from mechdesign.studies.frequencies.reports import count_reports
from mechdesign.studies.frequencies.survey import Survey

PEERS = Path(__file__).parent / "peers"
SHARES = np.array([0.4, 0.3, 0.2, 0.06, 0.04, 0.0])
LONG_SHARES = np.array([0.6, 0.25, 0.15] + [0.0] * 17)
CASES = [
    ("multi-freq-ldpy", "grr", 1.5, None),
    ("multi-freq-ldpy", "olh", 1.5, None),
    ("multi-freq-ldpy", "blh", 1.5, None),
    ("multi-freq-ldpy", "oue", 1.5, None),
    ("multi-freq-ldpy", "ss", 0.7, None),
    ("multi-freq-ldpy", "l-grr", 2.0, 4.0),
    ("multi-freq-ldpy", "l-olh", 2.0, 4.0),
    ("multi-freq-ldpy", "l-soue", 1.5, 4.0),
    ("pure-ldp", "olh", 1.5, None),
    ("pure-ldp", "oue", 1.5, None),
    ("pure-ldp", "grr", 1.5, None),
    ("ldp3", "blh", 1.5, None),
]


def items(name: str) -> tuple[str, ...]:
    return tuple(map(str, range(20 if name == "l-grr" else 6)))


@pytest.mark.parametrize(("client", "name", "epsilon", "limit"), CASES)
def test_reports_of_other_packages_give_the_shares_they_were_made_of(
    client: str, name: str, epsilon: float, limit: float | None
) -> None:
    """Fixed files of 1000 (L-GRR 2000) reports; all deviations below 4, which luck exceeds for 1 of 16,000 numbers."""
    options = {} if limit is None else {"limit": limit}
    survey = Survey(name, epsilon, items(name), client=client, parameters=options)
    counted = survey.count(PEERS / f"{client}.{name}.npy")
    truth = LONG_SHARES if name == "l-grr" else SHARES
    found = survey.law.estimate(counted.support, counted.n)
    assert np.abs((found - truth) / np.sqrt(survey.law.variance(truth, counted.n))).max() < 4
    assert examine(survey.law, counted, survey.items).chance > 1e-3


@pytest.mark.parametrize(("client", "name"), [("multi-freq-ldpy", "olh"), ("pure-ldp", "olh"), ("ldp3", "blh")])
def test_hashes_of_others_are_refused_as_ours(client: str, name: str) -> None:
    """Read with our hash and their g, every share is estimated near 0; 1000 reports show it."""
    theirs = law_of_client(client, name, 1.5, 6)
    assert isinstance(theirs, LocalHashing)
    ours = protocol(name, 1.5, 6, **({"g": theirs.hashes} if name == "olh" else {}))
    counted = count_reports(PEERS / f"{client}.{name}.npy", ours, items(name))
    fit = examine(ours, counted, items(name))
    assert fit.worst.name == "the shares add to"
    assert fit.deviations > 4
    if name == "olh":
        with pytest.raises(FileProblem, match="deviations off"):
            require_fit(ours, counted, items(name), "x.npy")


def test_their_longitudinal_response_is_not_ours() -> None:
    """At k = 100, limit 2 and eps 1 a first report has the loss 0.166; read as ours, it gives a share 9 times too low.

    The range of the shares says nothing about it: only the name of the client does.
    """
    ours, theirs = (
        protocol("l-grr", 1.0, 100, limit=2.0),
        law_of_client("multi-freq-ldpy", "l-grr", 1.0, 100, limit=2.0),
    )
    assert theirs.privacy_loss() == pytest.approx(0.166, abs=5e-4)
    support = (theirs.q + (theirs.p - theirs.q) * np.eye(100)[0]) * 10_000
    assert theirs.estimate(support, 10_000)[0] == pytest.approx(1)
    assert ours.estimate(support, 10_000)[0] < 0.12


def test_p_and_q_say_what_the_printed_step_does() -> None:
    """p* and q* of two chained responses on 20 values, by multiplying their matrices."""
    k, first, once = 20, math.exp(4.0), math.exp(2.0)
    p1, q1 = first / (first + k - 1), 1 / (first + k - 1)
    p2 = (q1 - once * p1) / (-p1 * once + k * q1 * once - q1 * once - p1 * (k - 1) + q1)  # as the paper prints it
    chain = np.eye(k)
    for p in (p1, p2):
        q = (1 - p) / (k - 1)
        chain = chain @ ((p - q) * np.eye(k) + q)
    law = law_of_client("multi-freq-ldpy", "l-grr", 2.0, k, limit=4.0)
    assert (law.p, law.q) == pytest.approx((chain[0, 0], chain[0, 1]), rel=1e-12)
    stated = with_chances(protocol("l-grr", 2.0, k, limit=4.0), law.p, law.q)
    assert isinstance(stated, Grr)
    assert (stated.p, stated.q) == pytest.approx((law.p, law.q), rel=1e-12)


@pytest.mark.parametrize("name", ["l-sue", "l-oue", "l-soue", "l-osue"])
def test_chained_bits_are_the_same_law_everywhere(name: str) -> None:
    ours = protocol(name, 1.5, 6, limit=4.0)
    theirs = law_of_client("multi-freq-ldpy", name, 1.5, 6, limit=4.0)
    assert (theirs.p, theirs.q) == (ours.p, ours.q)


@pytest.mark.parametrize(("epsilon", "g"), [(0.3, 2), (1.0, 4), (1.5, 5), (3.0, 21)])
def test_their_g_is_rounded(epsilon: float, g: int) -> None:
    law = law_of_client("pure-ldp", "olh", epsilon, 50)
    assert isinstance(law, LocalHashing)
    assert (law.hashes, law.hash) == (g, "xxh32-decimal")


def test_every_package_reads_what_it_lists() -> None:
    for package in PACKAGES:
        for name in package.protocols:
            options = {"limit": 3.0} if name.startswith("l-") else {}
            assert law_of_client(package.key, name, 1.0, 6, **options).p > 0
    assert CLIENTS[0] == "mechdesign"


@pytest.mark.parametrize(
    ("client", "name", "options", "words"),
    [
        ("nobody", "grr", {}, "client must be one of"),
        ("pure-ldp", "hr", {}, "protocol must be one of"),
        ("multi-freq-ldpy", "l-grr", {}, "limit must be given"),
        ("multi-freq-ldpy", "l-blh", {"limit": 2.0, "g": 3}, "option"),
    ],
)
def test_what_a_client_cannot_do_is_refused(client: str, name: str, options: dict[str, float], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        law_of_client(client, name, 1.0, 6, **options)


@pytest.mark.parametrize(
    ("name", "p", "q", "words"),
    [
        ("grr", 0.5, 0.2, "q must be 0.1:"),
        ("grr", 0.1, None, "exceed"),
        ("grr", 1.0, None, "between 0 and 1"),
        ("oue", 0.5, None, "q must be given"),
        ("oue", 0.5, 0.6, "exceed"),
        ("blh", 0.7, 0.4, "q must be 0.5: 1/g"),
        ("ss", 0.5, 0.1, "left out"),
        ("she", 0.5, 0.1, "left out"),
        ("grr", float("nan"), None, "number"),
    ],
)
def test_chances_that_cannot_be_are_refused(name: str, p: float, q: float | None, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        with_chances(protocol(name, 1.0, 6), p, q)


@pytest.mark.parametrize(("size", "epsilon"), [(128, 1.0), (100, 1.0), (2, 1.0), (3, 0.1), (256, 4.0)])
def test_ldp3_rounds_the_size_of_sets_up_and_multi_freq_ldpy_to_the_nearest(size: int, epsilon: float) -> None:
    even = size / (math.exp(epsilon) + 1)
    sizes = {name: law_of_client(name, "ss", epsilon, size).subset for name in ("ldp3", "multi-freq-ldpy")}
    assert sizes == {"ldp3": math.ceil(even), "multi-freq-ldpy": max(1, round(even))}


def test_sets_as_ldp3_makes_them_are_read_and_others_are_refused_with_the_option_that_reads_them(
    tmp_path: Path,
) -> None:
    """k = 128 and eps = 1: 34.4 items, 35 in LDP3 and 34 elsewhere."""
    labels, rng = tuple(map(str, range(128))), np.random.default_rng(1)
    sets = law_of_client("ldp3", "ss", 1.0, 128).report(np.arange(512) % 128, rng)
    np.save(tmp_path / "sets.npy", sets)
    (tmp_path / "sets.csv").write_text("\n".join(",".join(map(str, row)) for row in sets.tolist()))
    for name in ("sets.npy", "sets.csv"):
        counted = Survey("ss", 1.0, labels, client="ldp3").count(tmp_path / name)
        assert int(counted.support.sum()) == 512 * 35
        for client in ("mechdesign", "multi-freq-ldpy"):
            with pytest.raises(FileProblem, match="pass --subset 35"):
                Survey("ss", 1.0, labels, client=client).count(tmp_path / name)
        assert Survey("ss", 1.0, labels, parameters={"subset": 35}).count(tmp_path / name).n == 512
