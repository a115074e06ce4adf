"""Protocols by name and option; descriptions that contradict themselves are refused."""

from __future__ import annotations

import attrs
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies import frequencies as collect
from mechdesign.studies.frequencies.protocols import PROTOCOLS, Grr, LocalHashing, Unary, protocol


def test_the_protocols_that_the_papers_compare_are_there():
    keys = {line.key: line.longitudinal for line in PROTOCOLS}
    papers = ("grr", "sue", "oue", "blh", "olh", "ss", "she", "the", "hr")
    assert not any(keys[key] for key in papers)
    assert all(keys[f"l-{key}"] for key in ("grr", "sue", "oue", "soue", "osue", "blh", "olh"))


@pytest.mark.parametrize("key", [line.key for line in PROTOCOLS])
def test_names_are_found_in_either_case_and_immutable(key):
    law = protocol(f" {key.upper()} ", 1.0, 10)
    assert law.name == key.upper()
    assert law == protocol(key, 1.0, 10)
    assert law.size == 10
    assert law.epsilon == 1.0
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        law.epsilon = 2.0


def test_the_facade_builds_the_same():
    assert collect.protocol("oue", 1.0, 10) == protocol("oue", 1.0, 10)


@pytest.mark.parametrize("name", ["nope", "", None, 3, "o ue"])
def test_unknown_names_are_refused_with_those_known(name):
    with pytest.raises(InvalidInput, match="grr, sue, oue"):
        protocol(name, 1.0, 10)


@pytest.mark.parametrize(("key", "option"), [("oue", "g"), ("ss", "g"), ("grr", "name"), ("l-grr", "g"), ("the", "x")])
def test_options_of_other_protocols_are_refused(key, option):
    with pytest.raises(InvalidInput, match="option"):
        protocol(key, 1.0, 10, **{option: 2})


def test_options_are_passed_on():
    assert protocol("olh", 1.0, 10, g=7).hashes == 7
    assert protocol("ss", 1.0, 10, subset=4).subset == 4
    assert protocol("the", 1.0, 10, threshold=0.8).threshold == 0.8
    assert protocol("l-grr", 1.0, 10, limit=1.5).limit == 1.5
    assert protocol("l-olh", 1.0, 10, limit=1.5, g=3).once.hashes == 3


def test_numbers_that_are_no_law_are_refused():
    for make in (
        lambda: Grr("GRR", 1.0, 4, 0.9, 0.3),
        lambda: Grr("GRR", 1.0, 4, 0.1, 0.3),
        lambda: Unary("UE", 1.0, 4, 0.2, 0.5, 0.8),
        lambda: Unary("UE", 1.0, 4, 0.5, 0.2, 0.4),
        lambda: LocalHashing("LH", 1.0, 4, 4, 0.1, 0.9),
    ):
        with pytest.raises(InvalidInput, match="satisfy"):
            make()
