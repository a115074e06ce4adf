"""Mechanisms in files: what is written is read back equal, and nothing else is read without a typed error."""

import copy
import json
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import (
    Discrete,
    JointHashing,
    JointResponse,
    JointUnary,
    Mechanism,
    Piecewise,
    Product,
    SublevelWindow,
    TwoPoint,
    UnbiasedWindow,
    Window,
    catalogue as c,
)
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.directions import CapReports, DirectionResponse, SignedSets
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.kinds import JOINT_KINDS, KINDS, PROTOCOLS, SCALAR_KINDS
from mechdesign.values import files
from mechdesign.values.codec import Codec, encoded
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.losses import Custom, Power
from mechdesign.words.vectors import Ball, CrossPolytope

CODEC = Codec(PROTOCOLS)
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
    Window(2.0, Interval(-3, 4), [-2.9, 0.1, 1.7], [0.1, 1 / 3, 0.1], math.exp(2)),
    UnbiasedWindow(2.0, Interval(-1, 2), [-3.1, 0.7, 4.3], [0.1, 1 / 13, 0.12], math.exp(2)),
    ConditionalNoise(1.0, Interval(-1, 1), 2, 3, 1, [0.05, 0.15, 0.02, 0.02, 0.04, 0.02, 0.02, 0.15, 0.05], 2.7),
    DirectionResponse(1.0, Ball(7, 2.5), CapReports(1 / 3), 2.7),
    DirectionResponse(1.0, CrossPolytope(7), SignedSets(2), 2.7, "sets"),
    Product((c.ogpm(1.0), c.ogpm_circle(2.0), c.truncated_laplace(0.1)), "polar and more"),
]
JOINT = [
    JointResponse.pair(Fraction(2, 3), Fraction(-1, 7), 4),
    JointUnary.optimised(Fraction(3), 10, 1),
    JointHashing(JointResponse.pair(Fraction(1, 2), Fraction(-1, 2), 4), 100),
    PeakedResponse(12, 4, Fraction(5, 2), 3),
    CountedResponse((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))),
]


def mechanism_of(document):
    return CODEC.decoded(Mechanism, document, "mechanism")


def joint_of(document):
    return CODEC.of_kind(JOINT_KINDS, document, "mechanism")


def through_json(document):
    return json.loads(json.dumps(document, allow_nan=False))


def test_every_kind_is_among_the_examples():
    assert {type(law) for law in EXAMPLES} == set(KINDS)
    assert {type(law) for law in JOINT} == set(JOINT_KINDS)


def test_every_kind_has_a_name_of_its_own():
    for kinds in PROTOCOLS.values():
        assert len({kind.kind for kind in kinds}) == len(kinds)


KEYS_OF_VERSION_1 = {
    "piecewise": {"epsilon", "low", "high", "name", "inputs", "outputs", "window"},
    "additive": {"epsilon", "name", "inputs", "noise"},
    "bounded laplace": {"epsilon", "name", "inputs", "scale"},
    "truncated": {"name", "base"},
    "two-point": {"epsilon", "rare", "name", "inputs"},
    "mixture": {"epsilon", "weight", "name", "spread", "atoms"},
    "discrete": {"epsilon", "name", "inputs", "outputs", "probabilities"},
    "conditional noise": {"epsilon", "bins", "reach", "tail", "ratio", "name", "inputs", "base"},
    "two-sided geometric": {"epsilon", "name", "inputs"},
    "circular laplace": {"epsilon", "name", "inputs"},
    "window": {"epsilon", "ratio", "name", "inputs", "outputs", "base"},
    "unbiased window": {"epsilon", "ratio", "name", "inputs", "outputs", "base"},
    "product": {"name", "parts"},
    "direction": {"epsilon", "ratio", "name", "inputs", "reports"},
}


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: law.name)
def test_the_keys_of_a_mechanism_are_those_of_the_first_files(law):
    document = encoded(law)
    assert document.keys() == KEYS_OF_VERSION_1[document["kind"]] | {"kind"}


@pytest.mark.parametrize("law", JOINT, ids=lambda law: law.kind)
def test_a_mechanism_for_groups_read_back_is_equal(law):
    assert joint_of(through_json(encoded(law))) == law


@pytest.mark.parametrize("law", EXAMPLES + JOINT, ids=lambda law: getattr(law, "name", law.kind))
def test_a_mechanism_survives_pickle_and_copy(law):
    again = pickle.loads(pickle.dumps(law))
    assert again == copy.deepcopy(law) == law
    assert hash(again) == hash(law)


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: law.name)
def test_a_mechanism_read_back_is_equal(law):
    again = mechanism_of(through_json(encoded(law)))
    assert again == law
    assert type(again) is type(law)
    assert again.privacy_loss() == law.privacy_loss()


def test_every_written_kind_differs_from_every_other_mechanism():
    read = [mechanism_of(encoded(law)) for law in EXAMPLES]
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
    assert mechanism_of(through_json(encoded(law))) == law


def test_tables_of_probabilities_survive_unchanged():
    table = [[0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3]]
    law = Discrete(2.0, Finite((0, 1)), Finite((0, 1, 2)), table)
    again = mechanism_of(through_json(encoded(law)))
    assert again == law
    assert hash(again) == hash(law)
    assert again.likelihood_ratio() == law.likelihood_ratio()


def test_functions_have_no_file_form():
    custom = Custom(lambda y, x: abs(y - x))
    with pytest.raises(InvalidInput, match=r"mechanism window loss function must be data.*; take a named loss"):
        encoded(Piecewise(1.0, UNIT, UNIT, 0.5, 1.3, SublevelWindow(custom)), "mechanism")


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


TRANSPLANTS = [*map(encoded, EXAMPLES), {"kind": "circle", "period": 1}, {"kind": "finite", "points": [0, 1]}]


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
    document = through_json(encoded(law))
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
        read = mechanism_of(document)
    except FileProblem as refused:
        problem = refused
    else:
        problem = None
    if problem is not None:
        assert problem.field.startswith("mechanism")
        return
    assert mechanism_of(through_json(encoded(read))) == read
    assert read.privacy_loss() >= 0


@settings(max_examples=500, deadline=None)
@given(law=st.sampled_from(JOINT), data=st.data())
def test_a_document_of_a_joint_mechanism_with_a_field_changed_is_read_or_refused(law, data):
    document = through_json(encoded(law))
    *way, last = data.draw(st.sampled_from(list(places(document))))
    parent = document
    for key in way:
        parent = parent[key]
    parent[last] = data.draw(ODD)
    try:
        read = joint_of(document)
    except FileProblem:
        return
    assert joint_of(through_json(encoded(read))) == read


@pytest.mark.parametrize(
    "document", [None, 3, "pm", [], {}, {"kind": 3}, {"kind": "nope"}, {1: 2, "a": 3}, {"kind": None}]
)
def test_documents_that_are_no_mechanism_are_refused(document):
    with pytest.raises(FileProblem):
        mechanism_of(document)


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: law.name)
def test_a_missing_field_is_named(law):
    document = through_json(encoded(law))
    for name in document:
        rest = {key: value for key, value in document.items() if key != name}
        with pytest.raises(FileProblem, match=f"^mechanism {name} must be"):
            mechanism_of(rest)


def corrupted(law, **changes):
    return through_json(encoded(law)) | changes


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
    "truncated truncation": corrupted(c.truncated_laplace(1.0), base=encoded(c.truncated_laplace(1.0))),
    "product of products": corrupted(EXAMPLES[-1], parts=[encoded(EXAMPLES[-1])]),
    "empty product": corrupted(EXAMPLES[-1], parts=[]),
    "mixture of strangers": corrupted(c.hm(1.0), atoms=encoded(c.pm(1.0))),
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
    with pytest.raises(FileProblem, match=r"^mechanism "):
        mechanism_of(document)


def test_nesting_without_end_is_refused():
    document = encoded(c.laplace(1.0))
    for _ in range(100_000):
        document = {"kind": "truncated", "name": "deep", "base": document}
    with pytest.raises(FileProblem, match="mechanism base kind must be one of additive, piecewise"):
        mechanism_of(document)


def test_a_product_holds_no_product_whatever_it_is_called():
    inner = encoded(Product((c.ogpm(1.0),)))
    with pytest.raises(FileProblem, match="mechanism parts kind must be one of"):
        mechanism_of({"kind": "product", "name": "deep", "parts": [inner]})
    assert Product not in SCALAR_KINDS


def test_a_mechanism_written_to_a_file_is_read_from_it(tmp_path):
    for k, law in enumerate(EXAMPLES):
        path = files.write_atomically(tmp_path / f"{k}.json", files.dump_json(encoded(law)).encode())
        assert mechanism_of(files.read_json(path)) == law


def test_a_law_of_a_group_is_no_mechanism_of_one_user():
    with pytest.raises(FileProblem, match="mechanism kind must be one of"):
        mechanism_of(encoded(JOINT[0]))


def test_a_two_point_mechanism_keeps_an_infinite_loss():
    law = TwoPoint(1.0, UNIT, 0.0)
    assert mechanism_of(through_json(encoded(law))).privacy_loss() == math.inf
