"""Laws on items: the exact law of the sampling rule, both checkers, bulk samples, estimates and test vectors.

Statistical tests draw from the operating system, which has no seed: their false-positive rates are stated, and hold
anew for every run.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve, fields
from scipy import stats

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.studies.frequencies import as_protocol, decoded, encoding, protocol, protocol_table, share_intervals
from mechdesign.studies.frequencies.shipping import SHIPPED, encoding_of
from mechdesign.tables import (
    Labels,
    Table,
    Tally,
    checker,
    fixed_stream,
    make_table,
    privacy_checker,
    privacy_loss_distribution,
    report,
    sample,
    test_vectors as vectors_of_table,
)
from mechdesign.tables.kinds import ON_ITEMS, Encoding, ItemsLaw
from mechdesign.tables.kinds.hashing import hashed
from mechdesign.tables.kinds.items import Coins, numbers_of, packed, unpacked
from mechdesign.tables.streams import bytes_below
from tests.oracles.exact_items import exact

FORMS = (
    ("response", {}),
    ("unary", {"form": "symmetric"}),
    ("unary", {"form": "optimised"}),
    ("hashing", {"hashes": 3}),
    ("subset", {"subset": 2}),
    ("hadamard", {"blocks": 1}),
    ("hadamard", {"blocks": 2}),
    ("sketch", {"functions": 4, "buckets": 3}),
)
NAMES = [f"{kind}-{'-'.join(map(str, options.values()))}" for kind, options in FORMS]
forms = pytest.mark.parametrize(("kind", "options"), FORMS, ids=NAMES)


def table_of(kind: str, options: dict[str, Any], size: int = 5, epsilon: float = 1.0, bits: int = 16) -> Table:
    return make_table(Encoding(kind, epsilon, size, kind, options), bits)


def rehashed(document: dict[str, Any]) -> bytes:
    body = {key: value for key, value in document.items() if key != "sha256"}
    return checker.canonical(body | {"sha256": hashlib.sha256(checker.canonical(body)).hexdigest()})


def law_of(table: Table) -> ItemsLaw:
    assert isinstance(table.law, ItemsLaw)
    return table.law


@forms
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_laws_sum_to_one_and_attain_the_ratio_of_the_file(kind: str, options: dict[str, Any], epsilon: float) -> None:
    table = table_of(kind, options, epsilon=epsilon)
    worst = Fraction(1)
    for seed in range(4):
        laws = [exact(table, item, seed) for item in range(5)]
        assert all(sum(law.values()) == 1 for law in laws)
        ratios = (a[y] / b[y] for a, b in itertools.permutations(laws, 2) for y in a)
        worst = max(worst, *ratios)
    assert worst == table.ratio
    assert table.ratio * 2**96 <= int(table.document["cap"])


@forms
def test_supports_have_the_means_that_the_file_says(kind: str, options: dict[str, Any]) -> None:
    table = table_of(kind, options)
    law, chances = law_of(table), table.chances
    assert chances is not None
    if kind in ("hashing", "sketch"):  # under an ideal hash: the mean over all of its values
        (own, other) = (exact(table, 0, seed=1) for _ in range(2))
        assert own == other
        return
    for item in range(5):
        mean = [Fraction(0)] * 5
        for y, chance in exact(table, item).items():
            supported = law.support(law.sums(np.frombuffer(y, dtype=np.uint8)[None, :]))
            mean = [total + chance * Fraction(part) for total, part in zip(mean, supported.tolist(), strict=True)]
        assert mean == [chances.p if v == item else chances.q for v in range(5)]


# -- the sampling rule -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.4, 2.0])
def test_a_choice_gives_every_group_its_counts_over_all_draws(epsilon: float) -> None:
    table = table_of("response", {}, 7, epsilon)
    rule = table.law.rule()
    for item in (0, 3, 6):
        streams = (fixed_stream(number.to_bytes(2, "little")) for number in range(1 << 16))
        found = Counter(rule(float(item), stream) for stream in streams)
        assert {y: Fraction(count, 1 << 16) for y, count in found.items()} == exact(table, item)


@forms
def test_the_rule_has_the_exact_law(kind: str, options: dict[str, Any]) -> None:
    """Seed 17, n = 10,000, false-positive rate 1e-6 a law; .04 moved from one report to another: power .99."""
    table, rng = table_of(kind, options), np.random.default_rng(17)
    law, count = law_of(table), 10_000
    for item in (3,):
        seeds = (0,) if kind not in ("hashing", "sketch") else (1,)
        chances = exact(table, item, *seeds)
        found: Counter[bytes] = Counter()
        for _ in range(count):
            stream = rng.bytes(64)
            if kind == "hashing":
                stream = seeds[0].to_bytes(8, "little") + stream
            elif kind == "sketch":
                stream = bytes([seeds[0]]) + stream
            y = law.rule()(float(item), fixed_stream(stream))
            assert isinstance(y, bytes)
            found[y] += 1
        assert goodness(found, chances, count) > 1e-6


def goodness(found: Counter[bytes], chances: dict[bytes, Fraction], count: int) -> float:
    assert set(found) <= set(chances)
    expected = np.array([float(chance) * count for chance in chances.values()])
    return float(stats.chisquare([found[y] for y in chances], expected).pvalue)


@forms
@pytest.mark.parametrize("bits", [16, 32, 62])
def test_bulk_samples_have_the_exact_law(kind: str, options: dict[str, Any], bits: int) -> None:
    """The system's randomness, without a seed: n = 40,000, false-positive rate 1e-7; .02 moved: power .99."""
    table, count = table_of(kind, options, bits=bits), 40_000
    for item in (1, 4):
        rows = np.frombuffer(b"".join(sample(table, [item] * count)), dtype=np.uint8).reshape(count, -1)
        if kind == "hashing":
            seeds, said = numbers_of(rows[:, :8]), rows[:, 8]
            assert np.unique(seeds).size == count  # fails with probability 2^-33
            mine = [hashed(item, int(seed)) % 3 for seed in seeds[:4000]]
            share = float(np.mean(said[:4000] == mine))
            own = float(table.document["law"]["own"] / 2**bits)
            assert stats.binomtest(round(share * 4000), 4000, own).pvalue > 1e-7
            continue
        found = Counter(row.tobytes() for row in rows)
        chances = exact(table, item)
        if kind == "sketch":
            laws = [exact(table, item, function) for function in range(4)]
            chances = {y: chance / 4 for law in laws for y, chance in law.items()}
        assert goodness(found, chances, count) > 1e-7


@forms
@pytest.mark.parametrize("size", [5, 9, 300])
def test_as_many_random_bytes_are_read_whatever_the_item(kind: str, options: dict[str, Any], size: int) -> None:
    table, rng = table_of(kind, options, size, bits=32), np.random.default_rng(5)
    law = law_of(table)
    for _ in range(20):
        content = rng.bytes(20_000)
        used = set()
        for item in {0, 1, size // 2, size - 1}:
            stream = fixed_stream(content)
            law.rule()(float(item), stream)
            used.add(stream.used)
        assert len(used) == 1
        assert used.pop() >= law.least_bytes


# -- tampering ---------------------------------------------------------------------------------------------------------


def counts_of(law: dict[str, Any]) -> Iterator[tuple[str, int | None]]:
    for name in ("own", "other"):
        if name in law:
            yield name, None
    for name in ("own_bit", "other_bit"):
        if name in law:
            yield from ((name, 0), (name, 1))


@forms
@pytest.mark.parametrize("change", [1, -1, 1000])
def test_one_count_that_is_changed_is_caught_by_both_checkers(kind: str, options: dict[str, Any], change: int) -> None:
    table = table_of(kind, options)
    for name, place in counts_of(table.document["law"]):
        document = copy.deepcopy(dict(table.document))
        if place is None:
            document["law"][name] += change
        else:
            document["law"][name][place] += change
        with pytest.raises(checker.Failed, match="law"):
            checker.check(rehashed(document))
        with pytest.raises(privacy_checker.Failed, match="law"):
            privacy_checker.check(rehashed(document))


@forms
def test_any_parameter_that_is_changed_is_caught_by_the_checker(kind: str, options: dict[str, Any]) -> None:
    table = table_of(kind, options)
    for path in (("domain", "count"), ("law", "hashes"), ("law", "subset"), ("law", "blocks"), ("law", "buckets")):
        if path[1] in table.document[path[0]]:
            for change in (1, -1):
                document = copy.deepcopy(dict(table.document))
                document[path[0]][path[1]] += change
                if path == ("domain", "count") and kind not in ("response", "subset"):
                    continue  # as true of more items
                with pytest.raises(checker.Failed):
                    checker.check(rehashed(document))


@forms
def test_junk_in_a_law_ends_in_a_verdict_of_both(kind: str, options: dict[str, Any]) -> None:
    table = table_of(kind, options)
    names = list(table.document["law"])
    for name in names:
        for junk in (None, "1", [], [1], [[1]], {}, True, 0, -1, 2**70, [1, 2, 3], [0, 65536]):
            document = copy.deepcopy(dict(table.document))
            document["law"][name] = junk
            with pytest.raises(checker.Failed):
                checker.check(rehashed(document))
            with pytest.raises(privacy_checker.Failed):
                privacy_checker.check(rehashed(document))
        document = copy.deepcopy(dict(table.document))
        del document["law"][name]
        with pytest.raises(privacy_checker.Failed, match=name):
            privacy_checker.check(rehashed(document))
    for junk in (None, 1, 2**17, "5", -5):
        document = copy.deepcopy(dict(table.document))
        document["domain"]["count"] = junk
        for page in (checker, privacy_checker):
            with pytest.raises(page.Failed):
                page.check(rehashed(document))


@pytest.mark.parametrize("seed", range(40))
def test_the_privacy_page_passes_random_laws_exactly_if_full_enumeration_finds_them_private(seed: int) -> None:
    """Random counts that sum as they must, for random eps: both verdicts, against all reports of all items."""
    rng = np.random.default_rng(seed)
    kind, options = FORMS[seed % len(FORMS)]
    table = table_of(kind, options, size=int(rng.integers(4, 7)), epsilon=float(rng.uniform(0.1, 3)))
    document = copy.deepcopy(dict(table.document))
    law, whole = document["law"], 1 << 16
    if "own_bit" in law:
        law["own_bit"], law["other_bit"] = ([whole - n, n] for n in rng.integers(1, whole, 2).tolist())
    else:
        count, chosen = document["domain"]["count"], table.law
        groups = 2 if kind == "subset" else {"response": count}.get(kind) or getattr(chosen, "groups", 0)
        law["other"] = int(rng.integers(1, (whole - 1) // (groups - 1)))
        law["own"] = whole - (groups - 1) * law["other"]
    content = rehashed(document)
    changed = _Raw(document)
    laws = [exact(changed, item, 1) for item in range(document["domain"]["count"])]  # type: ignore[arg-type]
    worst = max(a[y] / b[y] for a, b in itertools.permutations(laws, 2) for y in a)
    if kind in ("hashing", "sketch") and worst == 1:
        return  # no two of the items have different hashes under this function
    is_private = worst * 2**96 <= int(document["cap"])
    try:
        privacy_checker.check(content)
    except privacy_checker.Failed:
        assert not is_private
    else:
        assert is_private


class _Raw:
    """What `exact` reads of a table, of a document that need not pass."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document, self.bits, self.kind = document, document["bits"], document["kind"]


# -- made --------------------------------------------------------------------------------------------------------------


@forms
@pytest.mark.parametrize("bits", [16, 32, 53, 62])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0, 20.0])
def test_tables_of_all_sizes_pass_both_checkers(kind: str, options: dict[str, Any], bits: int, epsilon: float) -> None:
    for size in (2, 3, 100, 4096):
        chosen = options | ({"subset": min(2, size - 1)} if kind == "subset" else {})
        table = make_table(
            Encoding(kind, epsilon, size, kind, chosen | ({"blocks": 2} if kind == "hadamard" else {})), 62
        )
        assert checker.check(table.content)["ratio"] == table.ratio
        assert privacy_checker.check(table.content) == table.epsilon
    assert table_of(kind, options, 5, epsilon, bits).privacy_loss <= epsilon


def test_the_counts_are_the_best_that_the_cap_allows() -> None:
    for kind, options in FORMS:
        table = table_of(kind, options, bits=16)
        law, cap = copy.deepcopy(table.document["law"]), int(table.document["cap"])
        if "own_bit" in law:
            continue
        groups = 2 if kind == "subset" else getattr(table.law, "groups", 0)
        own, other = law["own"] + (groups - 1), law["other"] - 1
        factor = Fraction(5 - 2, 2) if kind == "subset" else Fraction(1)
        assert other == 0 or Fraction(own, other) * factor * 2**96 > cap


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (("response", 1, {}), "size"),
        (("response", 2**16 + 1, {}), "size"),
        (("unary", 2**14 + 1, {}), "size"),
        (("unary", 5, {"form": "other"}), "form"),
        (("hashing", 5, {"hashes": 1}), "hashes"),
        (("hashing", 5, {}), "hashes"),
        (("response", 5, {"hashes": 2}), "option"),
        (("window", 5, {}), "mechanism"),
        (("subset", 5, {"subset": 5}), "subset"),
        (("hadamard", 5, {"blocks": 3}), "blocks"),
        (("hadamard", 5, {"blocks": 16}), "blocks"),
        (("sketch", 5, {"functions": 3, "buckets": 4}), "functions"),
        (("sketch", 5, {"functions": 1024, "buckets": 16384}), "functions, buckets"),
    ],
)
def test_what_no_table_can_hold_is_refused_by_its_field(asked: tuple[str, int, dict[str, Any]], field: str) -> None:
    kind, size, options = asked
    with pytest.raises(InvalidInput) as caught:
        make_table(Encoding(kind, 1.0, size, kind, options))
    assert caught.value.field == field


def test_too_few_bits_are_refused_with_the_number_that_works() -> None:
    with pytest.raises(InvalidInput, match=r"be enough to write probabilities.*take 53 bits"):
        make_table(Encoding("GRR", 1e-9, 100, "response"), 32)


def test_labels_name_the_items() -> None:
    table = protocol_table("oue", 1.0, ("no", "maybe", "yes"))
    assert table.labels == Labels(inputs=("no", "maybe", "yes"))
    assert len(sample(table, ["no", "yes"])) == 2
    with pytest.raises(InvalidInput, match="one for each of the 4 items"):
        make_table(encoding("oue", 1.0, 4), labels=Labels(("a", "b")))
    with pytest.raises(InvalidInput, match="labels"):
        make_table(encoding("oue", 1.0, 2), labels=Labels(None, ("a", "b")))
    with pytest.raises(InvalidInput, match="be one of the labels"):
        sample(table, ["nobody"])


def test_an_item_that_is_none_is_refused_without_its_value() -> None:
    table = table_of("response", {})
    for wrong in (5, -1, 2.5, math.nan):
        with pytest.raises(InvalidInput) as caught:
            sample(table, [0, wrong])
        assert "[1]" in caught.value.field
        with pytest.raises(InvalidInput):
            report(table, wrong)


# -- protocols ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED[:-1])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_a_table_is_the_protocol_of_that_name(name: str, epsilon: float) -> None:
    law, shipped = protocol(name, epsilon, 40), as_protocol(protocol_table(name, epsilon, 40, 53))
    assert type(shipped) is type(law)
    assert math.isclose(shipped.p, law.p, rel_tol=1e-9)
    assert math.isclose(shipped.q, law.q, rel_tol=1e-9)
    assert encoding_of(law) == encoding(name, epsilon, 40)
    assert shipped.privacy_loss() <= epsilon + 1e-12


@pytest.mark.parametrize("name", SHIPPED[:-1])
def test_estimates_are_those_of_the_protocol(name: str) -> None:
    table = protocol_table(name, 1.0, 12)
    law, reports = as_protocol(table), sample(table, np.arange(12).repeat(50))
    support = law.support(decoded(table, reports))
    found = Tally(table).add(reports).frequencies()
    assert np.allclose(found.estimates, law.estimate(support, 600), rtol=0, atol=1e-7)
    theirs = share_intervals(law, support, 600, "population", 0.95)
    slack = 0.02 if name == "hr" else 1e-7  # its variance is that seen, not that of the estimate
    assert np.allclose(found.lower, theirs.lower, rtol=0, atol=slack)
    assert np.allclose(found.upper, theirs.upper, rtol=0, atol=slack)
    assert np.allclose(found.standard_errors, theirs.errors, rtol=0, atol=slack)


@pytest.mark.parametrize("name", SHIPPED)
def test_intervals_cover_the_shares(name: str) -> None:
    """The system's randomness, without a seed: 60 intervals at 1 - 1e-6, so one fails in 17,000 runs."""
    options = {"functions": 64, "buckets": 256} if name == "cms" else {}
    table = protocol_table(name, 2.0, 60, **options)
    counts = np.arange(60)
    reports = sample(table, counts.repeat(counts))
    found = Tally(table).add(reports).frequencies(confidence=1 - 1e-6)
    true = counts / counts.sum()
    assert ((found.lower <= true) & (true <= found.upper)).all()
    assert found.covariance is None


def test_tallies_of_parts_merge_to_that_of_all() -> None:
    for name in SHIPPED:
        table = protocol_table(name, 1.0, 20)
        reports = sample(table, np.arange(20).repeat(5))
        parts = Tally(table).add(reports[:33]).merge(Tally(table).add(reports[33:]))
        assert np.array_equal(parts.frequencies().estimates, Tally(table).add(reports).frequencies().estimates)


@forms
def test_reports_of_another_table_are_refused_by_their_place(kind: str, options: dict[str, Any]) -> None:
    table = table_of(kind, options)
    good = sample(table, [0, 1, 2]).tolist()
    for wrong in (b"", good[0] + b"\0", b"\xff" * len(good[0]), "zz" * len(good[0]), 7):
        if kind == "hadamard" and options["blocks"] == 1 and isinstance(wrong, int):
            continue
        with pytest.raises(InvalidData, match=r"reports\[2\]"):
            Tally(table).add([good[0], good[1].hex(), wrong])
    with pytest.raises(InvalidInput, match="take frequencies"):
        Tally(table).add(good).mean()


@pytest.mark.parametrize("name", ["l-grr", "she", "the"])
def test_protocols_with_a_memory_or_noise_have_no_table(name: str) -> None:
    with pytest.raises(InvalidInput, match="to become a table"):
        encoding(name, 1.0, 5)


@forms
def test_the_privacy_loss_distribution_has_the_loss_at_delta_0(kind: str, options: dict[str, Any]) -> None:
    pytest.importorskip("dp_accounting")
    table = table_of(kind, options)
    once = privacy_loss_distribution(table)
    assert math.isclose(once.get_epsilon_for_delta(0.0), table.privacy_loss, abs_tol=2e-4)
    for x, other in ((0.0, 1.0), (0.0, 2.0)):
        masses = table.law.masses(x, other)
        assert sum(a for a, _ in masses) == sum(b for _, b in masses)
        assert max(Fraction(a, b) for a, b in masses) == table.ratio


# -- vectors -----------------------------------------------------------------------------------------------------------


@forms
@pytest.mark.parametrize("bits", [16, 62])
def test_vectors_notice_every_count_and_parameter_off_by_one(kind: str, options: dict[str, Any], bits: int) -> None:
    table = table_of(kind, options, 9, bits=bits)
    cases = vectors_of_table(table)["cases"]

    def passes(law: Any) -> bool:
        for case in cases:
            stream = fixed_stream(bytes.fromhex(case["bytes"]))
            try:
                y = law.rule()(float(case["x"]), stream)
            except (EOFError, OverflowError, IndexError, ZeroDivisionError):
                return False
            if (y.hex(), stream.used) != (case["y"], case["used"]):
                return False
        return True

    assert passes(table.law)
    for field in fields(type(table.law)):
        value = getattr(table.law, field.name)
        if field.name == "domain" or (kind, field.name) == ("subset", "other"):  # what is left of own
            continue
        steps = (value, -(value // 2)) if field.name == "functions" else (1, -1)  # their logarithm is what is used
        for change in steps:
            if isinstance(value, tuple):  # only the ones' count is asked: the other is what is left
                changed = evolve(table.law, **{field.name: (value[0], value[1] + change)})
            else:
                changed = evolve(table.law, **{field.name: value + change})
            is_the_rest = field.name == "other" and getattr(table.law, "groups", 0) == 2 and change == 1
            assert passes(changed) == is_the_rest, (field.name, change)


def test_vectors_are_few_where_reports_take_much_randomness() -> None:
    found = vectors_of_table(protocol_table("oue", 1.0, 4096))["cases"]
    assert len(found) < 60
    assert len({case["y"] for case in found}) > 10


# -- bytes -------------------------------------------------------------------------------------------------------------


def test_bits_are_packed_from_the_lowest() -> None:
    rows = packed(np.array([[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]], dtype=np.bool_))
    assert rows.tolist() == [[1, 2]]
    assert unpacked(rows, 10).tolist() == [[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]]


def test_every_kind_is_tried_here() -> None:
    assert {kind for kind, _ in FORMS} == {law.kind for law in ON_ITEMS}


# -- parts, ends and bytes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options"), [("unary", {"form": "symmetric"}), ("sketch", {"functions": 2, "buckets": 5})]
)
@pytest.mark.parametrize("at_once", [1, 12, 1000])
def test_bits_drawn_in_parts_have_the_same_law(
    kind: str, options: dict[str, Any], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's randomness: n = 20,000, shares within 5.5 standard deviations (false positives: 4e-8 each)."""
    monkeypatch.setattr(sys.modules["mechdesign.tables.kinds.items"], "_AT_ONCE", at_once)
    law, count = law_of(table_of(kind, options)), 20_000
    assert isinstance(law, Coins)
    found = law.all_bits(np.full(count, 2))
    for place in range(law.width):
        share = (law.own_bit if place == 2 else law.other_bit)[1] / law.whole
        assert abs(found[:, place].mean() - share) <= 5.5 * math.sqrt(share * (1 - share) / count)


@forms
@pytest.mark.parametrize("size", [5, 9, 300])
def test_the_least_bytes_are_those_of_a_report_for_which_no_draw_is_refused(
    kind: str, options: dict[str, Any], size: int
) -> None:
    for bits in (16, 53):
        law = law_of(table_of(kind, options, size, bits=bits))
        stream = fixed_stream(bytes(20_000))
        law.rule()(3.0, stream)
        assert stream.used == law.least_bytes


@pytest.mark.parametrize("functions", [2, 256, 512])
def test_the_number_of_a_function_takes_whole_bytes(functions: int) -> None:
    law = law_of(table_of("sketch", {"functions": functions, "buckets": 3}))
    assert law.least_bytes == (2 if functions > 256 else 1) + 3 * 2


@pytest.mark.parametrize("bits", [16, 53])
def test_a_set_of_items_takes_enough_bytes_for_refused_draws(bits: int) -> None:
    law = law_of(table_of("subset", {"subset": 2}, 6, bits=bits))
    assert law.enough_bytes == {16: 2, 53: 7}[bits] + bytes_below(5) + bytes_below(4)


@forms
def test_boundaries_are_draws_that_the_rule_takes_to_the_last_byte(kind: str, options: dict[str, Any]) -> None:
    law = law_of(table_of(kind, options, 40))
    cases = list(law.boundaries())
    for case in cases:
        stream = fixed_stream(case.stream)
        law.rule()(case.x, stream)
        assert stream.used == len(case.stream)
        assert all(0 <= number < 1 << bits for bits, number in case.draws)
    assert {0, 1, 38, 39} <= {int(case.x) for case in cases}
    if kind == "hadamard":  # the first and the last place of a block
        assert {0, (1 << law.place_bits) - 1} <= {case.draws[1][1] for case in cases}  # type: ignore[attr-defined]
