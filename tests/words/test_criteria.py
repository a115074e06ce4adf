"""What a criterion takes as a prior, and what becomes of it on the inputs of a problem."""

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.methods.registry import CODEC
from mechdesign.words import priors
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Average, Lexicographic, prior_on
from mechdesign.words.domains import Finite, Interval

UNIT, AGES = Interval(0, 1), Finite((18, 30, 65))
NORMAL = priors.normal(0.3, 0.1, UNIT)
PRIORS = {
    "weights": [0.25, 0.75],
    "atoms": priors.Atoms([0.1, 0.9], [0.5, 0.5]),
    "density": NORMAL,
    "cells": Cells.of_atoms([0.1, 0.9], [0.5, 0.5]),
    "none": None,
}


@pytest.mark.parametrize("kind", [Average, Lexicographic])
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS.keys())
def test_a_criterion_comes_back_from_a_file_with_its_prior(kind, prior):
    criterion = kind(prior)
    again = CODEC.decoded(kind, CODEC.encoded(criterion), "criterion")
    assert again == criterion
    assert hash(again) == hash(criterion)


def test_criteria_differ_where_their_priors_do():
    assert Average(NORMAL) != Average(priors.uniform(UNIT)) != Average([1.0])


def test_atoms_on_points_are_weights_of_the_points():
    on = Average(priors.Atoms([65, 18, 65], [0.25, 0.5, 0.25])).over(AGES)
    assert on.prior.tolist() == [0.5, 0.0, 0.5]
    assert on == Average([0.5, 0.0, 0.5]).over(AGES)


def test_a_text_names_a_law_on_the_inputs():
    assert Lexicographic("normal:0.3,0.1").over(UNIT).prior == NORMAL
    assert np.ptp(Average("uniform").over(AGES).prior) == 0


@pytest.mark.parametrize(
    ("prior", "inputs", "rule"),
    [
        (priors.Atoms([2.0], [1.0]), UNIT, "lie in"),
        (priors.uniform(Interval(0, 2)), UNIT, "live inside the inputs"),
        (Cells.of_atoms([2.0], [1.0]), UNIT, "lie in"),
        ([0.5, 0.5], UNIT, "say where its weights are"),
        ("zipf:2", UNIT, "be uniform, normal"),
        (NORMAL, AGES, "have its weights on points"),
        (priors.Atoms([19.0], [1.0]), AGES, "be one of the 3 points"),
        ([0.5, 0.5], AGES, "be one weight for each of the 3 inputs"),
    ],
)
def test_a_prior_must_be_on_the_inputs(prior, inputs, rule):
    with pytest.raises(InvalidInput, match=rule):
        prior_on(prior if isinstance(prior, str) else Average(prior).prior, inputs)


def test_a_cap_leaves_no_room_for_a_slack():
    with pytest.raises(InvalidInput, match="be left out with a cap"):
        Lexicographic(slack=0.1, cap=0.25)
    assert (Lexicographic().ranks_by, Lexicographic(cap=0.25).ranks_by) == ("worst", "average")
