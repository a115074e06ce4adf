"""Several attributes: losses for both neighbour relations by enumeration, estimates without bias."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import protocol, sampled_attribute, sampled_with_fakes, split_budget
from mechdesign.studies.frequencies.protocols.attributes import ATTRIBUTE, RECORD, SampledWithFakes
from mechdesign.studies.frequencies.protocols.grr import grr

RATE = 1e-6


def enumerated_losses(law, sizes):
    """The loss of RS+FD over all pairs of records, for each relation, from the likelihood of every report."""
    tables = [part.channel() for part in law.parts]
    if isinstance(law.parts[0], type(grr(1.0, 2))):
        fakes = [np.full(part.size, 1 / part.size) for part in law.parts]
    else:
        fakes = []
        for part in law.parts:
            ones = np.array([bin(s).count("1") for s in range(1 << part.size)])
            fakes.append(part.q**ones * (1 - part.q) ** (part.size - ones))
    records = list(itertools.product(*map(range, sizes)))
    reports = list(itertools.product(*(range(len(fake)) for fake in fakes)))
    d = len(sizes)
    chance = np.zeros((len(records), len(reports)))
    for (i, x), (j, y) in itertools.product(enumerate(records), enumerate(reports)):
        chance[i, j] = sum(
            tables[a][x[a], y[a]] * math.prod(fakes[b][y[b]] for b in range(d) if b != a) / d for a in range(d)
        )
    assert np.allclose(chance.sum(axis=1), 1)
    losses = {RECORD: 0.0, ATTRIBUTE: 0.0}
    for (i, x), (j, z) in itertools.permutations(enumerate(records), 2):
        loss = math.log((chance[i] / chance[j]).max())
        losses[RECORD] = max(losses[RECORD], loss)
        if sum(a != b for a, b in zip(x, z, strict=True)) == 1:
            losses[ATTRIBUTE] = max(losses[ATTRIBUTE], loss)
    return losses


@pytest.mark.parametrize("neighbours", [RECORD, ATTRIBUTE])
@pytest.mark.parametrize(("name", "sizes"), [("grr", (2, 5)), ("grr", (2, 2, 3)), ("oue", (2, 3)), ("sue", (3, 2))])
def test_losses_with_fakes_are_those_of_the_enumerated_channel(name, sizes, neighbours):
    law = sampled_with_fakes(1.0, sizes, name, neighbours)
    losses = enumerated_losses(law, sizes)
    assert losses[neighbours] == pytest.approx(1.0, rel=1e-9)
    for relation, loss in losses.items():
        assert law.privacy_loss(relation) == pytest.approx(loss, rel=1e-9)


def test_the_published_amplification_overspends_for_attributes_of_two_sizes():
    """Sizes 2 and 100, GRR, eps = 1: the inner eps' = ln[d (e^eps - 1) + 1] has the loss 1.2497."""
    inner = math.log1p(2 * math.expm1(1.0))
    published = SampledWithFakes(1.0, ATTRIBUTE, (grr(inner, 2), grr(inner, 100)))
    assert published.privacy_loss(ATTRIBUTE) == pytest.approx(1.2497, abs=5e-5)
    small = SampledWithFakes(1.0, ATTRIBUTE, (grr(inner, 2), grr(inner, 5)))
    assert enumerated_losses(small, (2, 5))[ATTRIBUTE] == pytest.approx(small.privacy_loss(ATTRIBUTE), rel=1e-12)
    assert small.privacy_loss(ATTRIBUTE) > 1.1
    same = SampledWithFakes(1.0, ATTRIBUTE, (grr(inner, 7), grr(inner, 7)))
    assert same.privacy_loss(ATTRIBUTE) == pytest.approx(1.0, rel=1e-12)


def test_for_whole_records_fakes_amplify_nothing():
    law = sampled_with_fakes(1.0, (10, 10, 10), "grr", RECORD)
    assert law.parts[0].privacy_loss() == pytest.approx(1.0)
    amplified = sampled_with_fakes(1.0, (10, 10, 10), "grr", ATTRIBUTE)
    assert amplified.privacy_loss(RECORD) == pytest.approx(math.log1p(3 * math.expm1(1)))


def test_splitting_adds_up_and_sampling_does_not():
    sizes = (3, 4, 5)
    for name in ("grr", "oue", "olh"):
        split = split_budget(1.5, sizes, name)
        assert split.privacy_loss(RECORD) == pytest.approx(1.5)
        assert split.privacy_loss(ATTRIBUTE) == pytest.approx(0.5)
        assert split_budget(1.5, sizes, name, ATTRIBUTE).privacy_loss(ATTRIBUTE) == pytest.approx(1.5)
        for relation in (RECORD, ATTRIBUTE):
            assert sampled_attribute(1.5, sizes, name).privacy_loss(relation) == pytest.approx(1.5)


SIZES = (3, 5)
COUNTS = (np.array([1500, 500, 0]), np.array([1000, 600, 300, 100, 0]))
RECORDS = np.stack([np.repeat(np.arange(k), c) for k, c in zip(SIZES, COUNTS, strict=True)], axis=1)


def estimates_of(law, path, rng):
    supports = law.support(law.report(RECORDS, rng)) if path == "report" else law.simulate(COUNTS, rng)
    return (
        law.estimate(supports)
        if hasattr(supports[0], "__len__") and isinstance(supports[0], tuple)
        else law.estimate(supports, 2000)
    )


@pytest.mark.parametrize("path", ["report", "simulate"])
@pytest.mark.parametrize(
    "law",
    [
        split_budget(2.0, SIZES, "grr"),
        split_budget(2.0, SIZES, "olh"),
        sampled_attribute(2.0, SIZES, "oue"),
        sampled_attribute(2.0, SIZES, "ss"),
        sampled_with_fakes(2.0, SIZES, "grr", ATTRIBUTE),
        sampled_with_fakes(2.0, SIZES, "oue", ATTRIBUTE),
        sampled_with_fakes(2.0, SIZES, "sue", RECORD),
    ],
    ids=lambda law: f"{type(law).__name__}-{law.parts[0].name}",
)
def test_estimates_are_unbiased_with_the_variance_stated(law, path):
    """200 collections of 2 000 records, seed 1: z and chi-square tests of every item at 1e-6 in all.

    A variance off by a factor 1.7 is caught with probability 0.99 an item.
    """
    rng = np.random.default_rng(1)
    runs = [estimates_of(law, path, rng) for _ in range(200)]
    for a, counts in enumerate(COUNTS):
        table = np.stack([run[a] for run in runs])
        variance = law.variance(a, counts / 2000, 2000)
        z = (table.mean(axis=0) - counts / 2000) / np.sqrt(variance / 200)
        assert np.abs(z).max() < stats.norm.isf(RATE / 32)
        # sampling lets the number of users vary, which adds less than 1% to the variance
        ratio = table.var(axis=0, ddof=1) / variance
        low, high = stats.chi2.ppf([RATE / 32, 1 - RATE / 32], 199) / 199
        assert ratio.min() > low * 0.98
        assert ratio.max() < high * 1.02


def test_what_only_one_attribute_may_differ_in_is_best_split():
    """With the weaker relation every attribute can spend all of eps; fakes cannot compete."""
    split, fakes = (make(1.0, (10, 10), "oue", neighbours=ATTRIBUTE) for make in (split_budget, sampled_with_fakes))
    assert split.privacy_loss(ATTRIBUTE) == pytest.approx(fakes.privacy_loss(ATTRIBUTE))
    assert split.variance(0, 0.1, 1000) < fakes.variance(0, 0.1, 1000) / 1.5


BAD = [
    (lambda: split_budget(1.0, []), "sizes"),
    (lambda: split_budget(1.0, 5), "sizes"),
    (lambda: split_budget(1.0, None), "sizes"),
    (lambda: split_budget(1.0, "44"), "sizes"),
    (lambda: split_budget(1.0, ["4", 4]), "size"),
    (lambda: split_budget(1.0, [3, 3]).simulate(5, np.random.default_rng(1)), "counts"),
    (lambda: split_budget(1.0, [3, 3]).support([[0]]), "reports"),
    (lambda: split_budget(1.0, [3, 3]).estimate([[1, 0, 0]], 1), "supports"),
    (lambda: sampled_attribute(1.0, [3, 3]).support(None), "reports"),
    (lambda: sampled_attribute(1.0, [3, 3]).estimate([([1, 0, 0], 1)]), "supports"),
    (lambda: sampled_with_fakes(1.0, [3, 3]).support([[0]]), "reports"),
    (lambda: sampled_with_fakes(1.0, [3, 3]).estimate(None, 1), "supports"),
    (lambda: split_budget(1.0, [3, 1]), "size"),
    (lambda: split_budget(0, [3, 3]), "eps"),
    (lambda: sampled_with_fakes(1.0, [3, 3], "olh"), "grr, sue, oue"),
    (lambda: sampled_with_fakes(1.0, [3, 3], None), "grr, sue, oue"),
    (lambda: sampled_with_fakes(1.0, [3, 3], "grr", "nobody"), "neighbours"),
    (lambda: sampled_with_fakes(64.0, [3, 3], "grr", ATTRIBUTE), "eps"),
    (lambda: split_budget(1.0, [3, 3]).privacy_loss("x"), "neighbours"),
    (lambda: split_budget(1.0, [3, 3]).variance(2, 0.1, 10), "attribute"),
    (lambda: split_budget(1.0, [3, 3]).report([[0, 3]], np.random.default_rng(1)), "column 1"),
    (lambda: split_budget(1.0, [3, 3]).report([0, 1], np.random.default_rng(1)), "records"),
    (lambda: split_budget(1.0, [3, 3]).report([[0, 1], [0]], np.random.default_rng(1)), "records"),
    (lambda: sampled_attribute(1.0, [3, 3]).simulate([[1, 0, 0]], np.random.default_rng(1)), "be 2 in a list"),
    (lambda: sampled_attribute(1.0, [3, 3]).simulate([[1, 0, 0], [2, 0, 0]], np.random.default_rng(1)), "same number"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input_is_refused(case):
    make, words = BAD[case]
    with pytest.raises(InvalidInput, match=words):
        make()


def test_one_attribute_alone_is_its_protocol():
    law = sampled_with_fakes(1.0, [5], "grr", ATTRIBUTE)
    assert law.variance(0, 0.2, 10) == pytest.approx(protocol("grr", 1.0, 5).variance(0.2, 10))


@pytest.mark.parametrize("relation", [RECORD, ATTRIBUTE])
def test_attributes_of_several_epsilons_never_lose_more_than_is_said(relation):
    """By enumeration: the part with the larger epsilon decides, wherever it stands."""
    for parts in ((grr(0.5, 2), grr(2.0, 3)), (grr(2.0, 3), grr(0.5, 2))):
        law = SampledWithFakes(2.0, RECORD, parts)
        losses = enumerated_losses(law, [part.size for part in parts])
        assert max(grr(0.5, 2).privacy_loss(), losses[relation]) <= law.privacy_loss(relation) * (1 + 1e-12)
        assert losses[RECORD] > grr(0.5, 2).privacy_loss()
