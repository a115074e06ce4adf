"""Mechanisms as dictionaries: what is written is read back equal, and nothing else is read without a typed error."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechdesign.domains import Circle, Finite, Interval
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.losses import Custom, Power
from mechdesign.mechanisms import Discrete, Piecewise, Product, SublevelWindow, TwoPoint
from mechdesign.mechanisms import catalogue as c
from mechdesign.mechanisms.serialise import (
    domain_from_dict,
    domain_to_dict,
    loss_from_dict,
    loss_to_dict,
    mechanism_from_dict,
    mechanism_to_dict,
)

KEYS, CIRCULAR = [entry.key for entry in c.ON_INTERVALS], [entry.key for entry in c.ON_CIRCLES]
UNIT = Interval(0, 1)
EXAMPLES = [
    *(c.build(key, 1.3, Interval(-5, 3)) for key in KEYS),
    *(c.build(key, 1.3, Circle(360.0)) for key in CIRCULAR),
    c.hm(0.3),
    c.gaussian(1.0, 0.7),
    c.randomised_response(1.0, Finite((0, 1, 5))),
    c.two_sided_geometric(1.0, Finite((0, 1, 5))),
    Piecewise(1.0, UNIT, UNIT, 0.5, 1.3, SublevelWindow(Power(1.5))),
    Piecewise(1.0, Circle(2.0), Circle(2.0), 0.4, 0.9, SublevelWindow(Power(1.5, 2.0))),
    Product((c.ogpm(1.0), c.ogpm_circle(2.0), c.truncated_laplace(0.1)), "polar and more"),
]


def through_json(document):
    return json.loads(json.dumps(document, allow_nan=False))


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: law.name)
def test_a_mechanism_read_back_is_equal(law):
    again = mechanism_from_dict(through_json(mechanism_to_dict(law)))
    assert again == law
    assert type(again) is type(law)
    assert again.privacy_loss() == law.privacy_loss()


def test_every_written_kind_differs_from_every_other_mechanism():
    read = [mechanism_from_dict(mechanism_to_dict(law)) for law in EXAMPLES]
    for k, law in enumerate(EXAMPLES):
        assert [other == law for other in read] == [j == k for j in range(len(EXAMPLES))]


@settings(max_examples=200, deadline=None)
@given(
    key=st.sampled_from(KEYS),
    epsilon=st.floats(1e-9, 64),
    lower=st.floats(-1e3, 1e3),
    length=st.floats(1e-6, 1e6),
)
def test_doubles_survive_unchanged(key, epsilon, lower, length):
    domain = Interval(lower, lower + length)
    law = c.build(key, epsilon, domain)
    assert mechanism_from_dict(through_json(mechanism_to_dict(law))) == law


def test_tables_of_probabilities_survive_unchanged():
    table = [[0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3]]
    law = Discrete(2.0, Finite((0, 1)), Finite((0, 1, 2)), table)
    again = mechanism_from_dict(through_json(mechanism_to_dict(law)))
    assert again == law
    assert hash(again) == hash(law)
    assert again.likelihood_ratio() == law.likelihood_ratio()


@pytest.mark.parametrize(
    "domain", [UNIT, Interval(-1e-9, 1e9), Circle(), Circle(24.0), Finite((0, 1, 5)), Finite((2,))]
)
def test_domains_survive_unchanged(domain):
    assert domain_from_dict(through_json(domain_to_dict(domain))) == domain


@pytest.mark.parametrize("loss", [Power(1.0), Power(2.5), Power(0.5, 360.0)])
def test_losses_survive_unchanged(loss):
    assert loss_from_dict(through_json(loss_to_dict(loss))) == loss


def test_functions_have_no_file_form():
    custom = Custom(lambda y, x: abs(y - x))
    with pytest.raises(InvalidInput, match="no file form"):
        loss_to_dict(custom)
    with pytest.raises(InvalidInput, match="no file form"):
        mechanism_to_dict(Piecewise(1.0, UNIT, UNIT, 0.5, 1.3, SublevelWindow(custom)))


def test_what_is_not_a_mechanism_cannot_be_written():
    with pytest.raises(InvalidInput, match="can save"):
        mechanism_to_dict("pm")


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.just(10**400),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["piecewise", "circle", "interval", "finite", "affine", "laplace", "product", "\ud800"]),
    st.lists(st.one_of(st.integers(-2, 2), st.floats(), st.none(), st.text(max_size=2)), max_size=3),
    st.dictionaries(
        st.sampled_from(["kind", "name", "epsilon"]), st.one_of(st.text(max_size=3), st.none()), max_size=2
    ),
)


TRANSPLANTS = [*map(mechanism_to_dict, EXAMPLES), {"kind": "circle", "period": 1}, {"kind": "finite", "points": [0, 1]}]


def places(document, path=()):
    """Every place in a nested document, as the keys that lead there."""
    if path:
        yield path
    if isinstance(document, dict | list):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield from places(document[key], (*path, key))


@settings(max_examples=1500, deadline=None)
@given(law=st.sampled_from(EXAMPLES), data=st.data())
def test_a_document_with_any_field_changed_is_read_or_refused_with_a_typed_error(law, data):
    document = through_json(mechanism_to_dict(law))
    for _ in range(data.draw(st.integers(1, 2))):
        found = list(places(document))
        if not found:
            break
        *way, last = data.draw(st.sampled_from(found))
        parent = document
        for key in way:
            parent = parent[key]
        action = data.draw(st.sampled_from(["delete", "replace", "swap"]))
        if action == "delete":
            del parent[last]
        elif action == "replace":
            parent[last] = data.draw(ODD)
        else:
            parent[last] = through_json(data.draw(st.sampled_from(TRANSPLANTS)))
    try:
        read = mechanism_from_dict(document)
    except InvalidInput:
        return
    assert mechanism_from_dict(through_json(mechanism_to_dict(read))) == read
    assert read.privacy_loss() >= 0


@pytest.mark.parametrize(
    "document", [None, 3, "pm", [], {}, {"kind": 3}, {"kind": "nope"}, {1: 2, "a": 3}, {"kind": None}]
)
def test_documents_that_are_no_mechanism_are_refused(document):
    with pytest.raises(FileProblem):
        mechanism_from_dict(document)


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: law.name)
def test_a_missing_field_is_named(law):
    document = through_json(mechanism_to_dict(law))
    for name in document:
        rest = {key: value for key, value in document.items() if key != name}
        with pytest.raises(FileProblem, match=repr(name)):
            mechanism_from_dict(rest)


def corrupted(law, **changes):
    return through_json(mechanism_to_dict(law)) | changes


LIES = {
    "epsilon above the limit": corrupted(c.ogpm(1.0), epsilon=100.0),
    "epsilon of a mixture": corrupted(c.hm(1.0), epsilon=-1.0),
    "epsilon as text": corrupted(c.ogpm(1.0), epsilon="1.0"),
    "epsilon as a truth value": corrupted(c.ogpm(1.0), epsilon=True),
    "heights swapped": corrupted(c.ogpm(1.0), low=2.0, high=0.5),
    "window on a circle": corrupted(c.ogpm_circle(1.0), window={"kind": "affine", "slope": 2.0, "offset": 0.0}),
    "unknown window": corrupted(c.ogpm(1.0), window={"kind": "round"}),
    "outputs on points": corrupted(c.ogpm(1.0), outputs={"kind": "finite", "points": [0, 1]}),
    "noise on a circle": corrupted(c.laplace(1.0), inputs={"kind": "circle", "period": 1.0}),
    "unknown noise": corrupted(c.laplace(1.0), noise={"kind": "cauchy", "scale": 1.0}),
    "negative scale": corrupted(c.laplace(1.0), noise={"kind": "laplace", "scale": -1.0}),
    "huge number": corrupted(c.laplace(1.0), epsilon=10**400),
    "truncated truncation": corrupted(c.truncated_laplace(1.0), base=mechanism_to_dict(c.truncated_laplace(1.0))),
    "product of products": corrupted(EXAMPLES[-1], parts=[mechanism_to_dict(EXAMPLES[-1])]),
    "empty product": corrupted(EXAMPLES[-1], parts=[]),
    "mixture of strangers": corrupted(c.hm(1.0), atoms=mechanism_to_dict(c.pm(1.0))),
    "ragged table": corrupted(c.randomised_response(1.0, Finite((0, 1))), probabilities=[[1.0], [0.5, 0.5]]),
    "table of text": corrupted(c.randomised_response(1.0, Finite((0, 1))), probabilities=[["a", "b"], ["c", "d"]]),
    "table of huge numbers": corrupted(
        c.randomised_response(1.0, Finite((0, 1))), probabilities=[[10**400, 0], [1, 0]]
    ),
    "empty table": corrupted(c.randomised_response(1.0, Finite((0, 1))), probabilities=[]),
    "unsorted points": corrupted(
        c.two_sided_geometric(1.0, Finite((0, 1))), inputs={"kind": "finite", "points": [1, 0]}
    ),
    "points as text": corrupted(
        c.two_sided_geometric(1.0, Finite((0, 1))), inputs={"kind": "finite", "points": ["0", "1"]}
    ),
    "a name that is no text": corrupted(c.ogpm(1.0), name="\ud800"),
}


@pytest.mark.parametrize("document", LIES.values(), ids=LIES)
def test_corrupted_documents_are_refused(document):
    with pytest.raises(InvalidInput):
        mechanism_from_dict(document)


def test_nesting_without_end_is_refused():
    document = mechanism_to_dict(c.laplace(1.0))
    for _ in range(100_000):
        document = {"kind": "truncated", "name": "deep", "base": document}
    with pytest.raises(FileProblem, match="here"):
        mechanism_from_dict(document)


def test_a_two_point_mechanism_keeps_an_infinite_loss():
    law = TwoPoint(1.0, UNIT, 0.0)
    assert mechanism_from_dict(through_json(mechanism_to_dict(law))).privacy_loss() == math.inf
