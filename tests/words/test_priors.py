"""Priors are probability laws on the domain they name."""

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.values.codec import Codec, encoded
from mechdesign.words import priors
from mechdesign.words.domains import Circle, Interval


def total(prior):
    cuts = sorted({prior.domain.lower, prior.domain.upper, *prior.breakpoints})
    return sum(
        integrate.quad(lambda x: float(prior(x)), a, b, epsabs=1e-13, epsrel=1e-11)[0]
        for a, b in zip(cuts[:-1], cuts[1:], strict=True)
    )


@pytest.mark.parametrize("domain", [Interval(0, 1), Interval(-5, 3), Circle(360.0)], ids=str)
def test_the_uniform_law_is_flat_with_mass_one(domain):
    prior = priors.uniform(domain)
    assert prior(np.linspace(domain.lower, domain.upper, 5)).tolist() == [1 / domain.length] * 5


NORMALS = [
    (0.3, 0.1, Interval(0, 1)),
    (0.0, 1.0, Interval(6.6, 7.1)),
    (0.0, 1.0, Interval(-7.1, -6.6)),
    (5.0, 1e-3, Interval(0, 10)),
]
NORMALS += [(0.5, 100.0, Interval(0, 1)), (0.0, 1.0, Interval(-1, 6.8)), (1e3, 0.5, Interval(1e3, 1e3 + 2))]


@pytest.mark.parametrize(("mean", "deviation", "domain"), NORMALS, ids=str)
def test_the_normal_law_is_conditioned_on_the_domain(mean, deviation, domain):
    prior = priors.normal(mean, deviation, domain)
    law = stats.norm(mean, deviation)
    mass = law.cdf(domain.upper) - law.cdf(domain.lower)
    if domain.lower > mean:
        mass = law.sf(domain.lower) - law.sf(domain.upper)
    xs = np.linspace(domain.lower, domain.upper, 7)
    np.testing.assert_allclose(prior(xs), law.pdf(xs) / mass, rtol=1e-9)
    assert total(prior) == pytest.approx(1, rel=1e-9, abs=0)


@pytest.mark.parametrize(
    ("mean", "deviation"), [(50, 1), (-50, 1), (math.nan, 1), (0, 0), (0, -1), (0, math.inf), ("0", 1)]
)
def test_normal_laws_without_mass_or_meaning_are_refused(mean, deviation):
    with pytest.raises(InvalidInput):
        priors.normal(mean, deviation, Interval(0, 1))


@settings(max_examples=100)
@given(st.lists(st.floats(1e-3, 1), min_size=1, max_size=8), st.floats(-10, 10), st.data())
def test_histograms_hold_their_weights_in_their_bins(raw, start, data):
    widths = data.draw(st.lists(st.floats(1e-3, 5), min_size=len(raw), max_size=len(raw)))
    edges, weights = start + np.cumsum([0.0, *widths]), np.array(raw) / sum(raw)
    prior = priors.histogram(edges, weights)
    middles = (edges[1:] + edges[:-1]) / 2
    np.testing.assert_allclose(prior(middles) * np.diff(edges), weights, rtol=1e-9)
    assert prior.domain == Interval(edges[0], edges[-1])
    assert prior.breakpoints == tuple(edges[1:-1])


def test_inner_edges_of_a_histogram_belong_to_the_bin_on_their_right():
    assert priors.histogram([0, 1, 3], [0.25, 0.75])([0, 1, 3]).tolist() == [0.25, 0.375, 0.375]


BAD_HISTOGRAMS = [
    ([0, 1], [0.5, 0.5]),
    ([0, 1, 1], [0.5, 0.5]),
    ([1, 0], [1]),
    ([0, math.nan], [1]),
    ([0, 1], [1.1]),
    (["a", "b"], [1]),
]
BAD_HISTOGRAMS += [
    ([0, 1, 2], [1.5, -0.5]),
    ([0, 1], [math.nan]),
    (3, [1]),
    ([0], []),
    ([0, 1], 1.0),
    ([0, 1], [True]),
    ([0, math.inf], [1]),
]


@pytest.mark.parametrize(("edges", "weights"), BAD_HISTOGRAMS, ids=str)
def test_impossible_histograms_are_refused(edges, weights):
    with pytest.raises(InvalidInput):
        priors.histogram(edges, weights)


def test_data_become_shares_of_their_values():
    atoms = priors.Atoms.of_data([3, 1, 1, 2])
    assert (atoms.points.tolist(), atoms.weights.tolist()) == ([1, 2, 3], [0.5, 0.25, 0.25])


BAD_ATOMS = [
    ([], []),
    ([1], [0.5]),
    ([1, 2], [1]),
    ([math.nan], [1]),
    ([math.inf], [1]),
    ([1, 2], [1.5, -0.5]),
    (["a"], [1]),
    ([1], [math.nan]),
]


@pytest.mark.parametrize(("points", "weights"), BAD_ATOMS, ids=str)
def test_impossible_atoms_are_refused(points, weights):
    with pytest.raises(InvalidInput):
        priors.Atoms(points, weights)


@pytest.mark.parametrize("data", [[], ["a"], [math.nan], None, [True]], ids=str)
def test_data_that_are_no_numbers_are_refused(data):
    with pytest.raises(InvalidInput):
        priors.Atoms.of_data(data)


def test_atoms_compare_and_hash_as_values():
    assert priors.Atoms([1, 2], [0.5, 0.5]) == priors.Atoms([1.0, 2.0], [0.5, 0.5])
    assert priors.Atoms([1, 2], [0.5, 0.5]) != priors.Atoms([1, 3], [0.5, 0.5])
    assert hash(priors.Atoms([1, 2], [0.5, 0.5])) == hash(priors.Atoms([1.0, 2.0], [0.5, 0.5]))


def test_atoms_are_copies_nobody_can_write_to():
    points = np.array([1.0, 2.0])
    atoms = priors.Atoms(points, [0.5, 0.5])
    points[0] = 9.0
    assert atoms.points[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        atoms.points[0] = 3.0


def test_texts_name_priors():
    assert priors.parse_prior(" Uniform ", Interval(0, 4))(1.0) == 0.25
    named, built = priors.parse_prior("normal:0.3,0.1", Interval(0, 1)), priors.normal(0.3, 0.1, Interval(0, 1))
    assert named(0.25) == built(0.25)
    assert named.name == "normal(0.3, 0.1)"


@pytest.mark.parametrize(
    "text",
    ["", "beta", "normal", "normal:1", "normal:a,b", "normal:0.5,0", "normal:nan,1", "normal:1,2,3", "uniform:1"],
)
def test_texts_that_name_no_prior_are_refused(text):
    with pytest.raises(InvalidInput):
        priors.parse_prior(text, Interval(0, 1))


def test_a_normal_law_on_a_circle_is_refused():
    with pytest.raises(InvalidInput):
        priors.parse_prior("normal:1,1", Circle())


BETAS = [(2.0, 3.0), (0.5, 0.5), (1.0, 1.0), (0.2, 6.0), (300.0, 100.0)]


@pytest.mark.parametrize(("a", "b"), BETAS, ids=str)
@pytest.mark.parametrize("domain", [Interval(0, 1), Interval(-1, 3)], ids=str)
def test_the_beta_law_is_stretched_over_the_domain(a, b, domain):
    prior = priors.beta(a, b, domain)
    law = stats.beta(a, b, domain.lower, domain.length)
    xs = domain.lower + domain.length * np.array([1e-6, 0.1, 0.5, 0.9, 1 - 1e-6])
    np.testing.assert_allclose(prior(xs), law.pdf(xs), rtol=1e-8)
    assert total(prior) == pytest.approx(1, rel=1e-9)
    assert np.isfinite(prior([domain.lower, domain.upper])).all()


@pytest.mark.parametrize("rate", [0.01, 6.0, 500.0])
def test_the_exponential_law_falls_from_the_lower_end(rate):
    prior = priors.exponential(rate, Interval(-1, 1))
    xs = np.linspace(-1, 1, 5)
    mass = -math.expm1(-2 * rate)
    np.testing.assert_allclose(prior(xs), stats.expon(-1, 1 / rate).pdf(xs) / mass, rtol=1e-12)
    assert total(prior) == pytest.approx(1, rel=1e-10)


@pytest.mark.parametrize(("name", "numbers"), [("beta:2,3", (2, 3)), (" Beta:0.5,0.5", (0.5, 0.5))])
def test_texts_name_beta_laws(name, numbers):
    assert priors.parse_prior(name, Interval(0, 2))(0.7) == priors.beta(*numbers, Interval(0, 2))(0.7)


@pytest.mark.parametrize(
    "text", ["beta:1", "beta:0,1", "beta:-1,2", "beta:nan,1", "exponential", "exponential:0", "exponential:1,2"]
)
def test_texts_that_name_no_beta_or_exponential_law_are_refused(text):
    with pytest.raises(InvalidInput):
        priors.parse_prior(text, Interval(0, 1))


def _csv(folder, text):
    path = folder / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_column_of_a_file_becomes_shares(tmp_path):
    path = _csv(tmp_path, '\ufeffname, age\r\n"Smith, J",0.5\r\nLee, 0.25 \r\nKim,0.5\r\n\r\n')
    assert priors.prior_of_file(path, "age") == priors.Atoms.of_data([0.5, 0.25, 0.5])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("age\n0.5\nold\n", "row 3 of data.csv, column 'age' must be a number"),
        ("age\n0.5\nnan\n", "row 3"),
        ("age\n0.5\ninf\n", "row 3 of data.csv, column 'age' must be finite"),
        ("name,age\nLee\n", "row 2"),
        ("age\n", "at least one row"),
        ("", "begin with a header"),
        ("height\n1\n", "column must be one of the columns of .*: 'height'"),
        ("age,age\n1,2\n", "name one column"),
        (b"age\n\xff\xfe\n", "UTF-8"),
        ("age\n" + "1" * 200_000 + "\n", "CSV"),
    ],
)
def test_files_that_hold_no_prior_say_where(tmp_path, text, word):
    with pytest.raises(InvalidInput, match=word):
        priors.prior_of_file(_csv(tmp_path, text), "age")


def test_a_missing_file_is_a_file_problem(tmp_path):
    for path in (tmp_path / "nowhere.csv", tmp_path):
        with pytest.raises(FileProblem, match="readable"):
            priors.prior_of_file(path, "age")


@pytest.mark.parametrize("function", [lambda x: 1.0, lambda x: "one", lambda x: np.ones(3), lambda x: x + 1j])
def test_a_density_must_return_an_array_of_numbers(function: Any) -> None:
    with pytest.raises(InvalidInput, match="prior"):
        priors.Density(function, Interval(0, 1))([0.2, 0.4])


@pytest.mark.parametrize("line", ["0,5,1", "0_2,1", "0,2,"])
def test_rows_that_do_not_fit_the_header_and_underscores_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"x,y\n0.1,2\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="row 3"):
        priors.prior_of_file(path, "x")


def test_a_prior_too_wide_is_told_to_narrow() -> None:
    with pytest.raises(InvalidInput, match="narrow the prior"):
        priors.parse_prior("normal:0.5,1e12", Interval(0, 1))
    with pytest.raises(InvalidInput, match="prior"):
        priors.parse_prior("normal:0_5,1", Interval(0, 1))


NAMED = [
    priors.Atoms([0.1, 0.7], [0.25, 0.75]),
    priors.Atoms(3, 1),
    priors.uniform(Interval(-1, 2)),
    priors.uniform(Circle(360.0)),
    priors.normal(0.3, 0.1, Interval(0, 1)),
    priors.beta(0.5, 3.0, Interval(-1, 1)),
    priors.exponential(6.0, Interval(0, 2)),
    priors.histogram([0, 1, 3], [0.25, 0.75]),
]


def _names(prior: priors.Prior) -> str:
    return getattr(prior, "name", "atoms")


@pytest.mark.parametrize("prior", NAMED, ids=_names)
def test_a_prior_comes_back_from_a_file_as_it_was(prior: priors.Prior) -> None:
    again = Codec().decoded(priors.Prior, json.loads(json.dumps(encoded(prior))), "prior")
    assert again == prior
    assert hash(again) == hash(prior)
    if isinstance(prior, priors.Density):
        xs = np.linspace(prior.domain.lower, prior.domain.upper, 101)
        assert again(xs).tolist() == prior(xs).tolist()
        assert (again.breakpoints, again.name) == (prior.breakpoints, prior.name)


@pytest.mark.parametrize("prior", NAMED, ids=_names)
def test_a_prior_survives_pickle_and_copy(prior: priors.Prior) -> None:
    assert pickle.loads(pickle.dumps(prior)) == copy.deepcopy(prior) == prior


def test_a_density_is_written_by_its_law() -> None:
    assert encoded(priors.normal(0.3, 0.1, Interval(0, 1))) == {
        "kind": "density",
        "law": {"kind": "normal", "mean": 0.3, "deviation": 0.1},
        "domain": {"kind": "interval", "lower": 0.0, "upper": 1.0},
    }


def test_a_density_that_is_a_function_is_not_written() -> None:
    with pytest.raises(InvalidInput, match=r"prior law must be data: .*; take a named loss or law"):
        encoded(priors.Density(np.ones_like, Interval(0, 1)), "prior")


NORMAL = encoded(priors.normal(0.3, 0.1, Interval(0, 1)))
HISTOGRAM = encoded(priors.histogram([0, 1, 3], [0.25, 0.75]))
CIRCLE = {"kind": "circle", "period": 1.0}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (NORMAL | {"kind": "law"}, "prior kind"),
        (NORMAL | {"law": {"kind": "cauchy"}}, "prior law kind"),
        (NORMAL | {"law": {"mean": 0.3, "deviation": 0.1}}, "prior law kind"),
        (NORMAL | {"law": {"kind": "normal", "mean": 0.3}}, "prior law deviation"),
        (NORMAL | {"law": {"kind": "normal", "mean": 0.3, "deviation": -1.0}}, "prior law prior deviation"),
        (NORMAL | {"law": {"kind": "normal", "mean": 50.0, "deviation": 1.0}}, "prior"),
        (NORMAL | {"domain": CIRCLE}, "prior domain"),
        (NORMAL | {"name": "normal(0.3, 0.1)"}, "prior name"),
        (HISTOGRAM | {"domain": {"kind": "interval", "lower": 0.0, "upper": 1.0}}, "prior domain"),
        ({"kind": "atoms", "points": [0.0, 1.0], "weights": [0.5, 0.4]}, "prior weights"),
        ({"kind": "atoms", "points": [0.0, "1"], "weights": [0.5, 0.5]}, "prior points"),
        ({"kind": "atoms", "points": [0.0, 1.0]}, "prior weights"),
    ],
)
def test_a_prior_in_a_file_that_is_no_law_is_refused(document: Any, place: str) -> None:
    with pytest.raises(FileProblem) as refused:
        Codec().decoded(priors.Prior, document, "prior")
    assert refused.value.field == place


def test_a_law_has_a_name_and_break_points_of_its_own() -> None:
    law, domain = priors.NormalLaw(0.3, 0.1), Interval(0, 1)
    prior = priors.Density(law, domain)
    assert priors.Density(law, domain, prior.breakpoints, prior.name) == prior
    for other in ((0.5,), "mine"), (prior.breakpoints, "mine"), ((0.5,), prior.name):
        with pytest.raises(InvalidInput, match="be left out"):
            priors.Density(law, domain, *other)
