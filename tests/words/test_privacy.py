"""Privacy as a value: what a requirement refuses to be, what proves it, and what its account says."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.privacy import prove
from mechdesign.mechanisms.catalogue import pm
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.values.codec import Codec, encoded
from mechdesign.values.files import dump_json
from mechdesign.words.privacy import Collusion, Privacy, Pure

PAIR = JointResponse.pair(Fraction(7, 10), Fraction(-1, 5))
VALUES = [Pure(1.0), Collusion(1.0, 100), Collusion(1.0, 100, 5, (None,)), Collusion(2.0, 100, 5, (1.0, None, 3.0))]


@pytest.mark.parametrize("privacy", VALUES, ids=str)
def test_a_requirement_comes_back_from_its_json(privacy: Privacy) -> None:
    assert Codec().decoded(Privacy, json.loads(dump_json(encoded(privacy))), "privacy") == privacy


def test_an_account_of_one_report_has_the_exact_loss_and_what_it_was_held_to() -> None:
    account = prove(Pure(1.0), pm(0.5))
    assert account.privacy == Pure(1.0)
    assert account.loss == pm(0.5).privacy_loss()
    assert account.document() == {"kind": "pure", "epsilon": 1.0, "loss": account.loss}


def test_an_account_of_colluders_has_the_average_and_every_number_of_partners() -> None:
    privacy = Collusion(1.0, users=100, colluders=5, caps=(2.0,))
    document = prove(privacy, PAIR).document()
    assert document["averaged_epsilon"] == prove(privacy, PAIR).loss <= 1
    assert len(document["conditional_epsilons"]) == 2
    assert document["caps"] == [2.0]


def test_a_requirement_that_is_not_kept_is_no_account() -> None:
    with pytest.raises(CheckFailed, match="above the epsilon"):
        prove(Pure(0.4), pm(0.5))
    with pytest.raises(CheckFailed, match="averaged epsilon"):
        prove(Collusion(0.8, users=100), PAIR)
    with pytest.raises(CheckFailed, match="with 1 known"):
        prove(Collusion(1.0, users=100, caps=(0.9,)), PAIR)


def test_a_joint_response_keeps_no_requirement_on_one_report_nor_one_report_any_on_colluders() -> None:
    with pytest.raises(CheckFailed, match="no law of one user's report"):
        prove(Pure(1.0), PAIR)
    with pytest.raises(CheckFailed, match="a matter of joint responses"):
        prove(Collusion(1.0, users=100), pm(0.5))


def test_a_cap_on_more_partners_than_a_group_has_is_refused() -> None:
    with pytest.raises(CheckFailed, match="2 partners are capped, and a group of 2 has fewer"):
        prove(Collusion(1.0, users=100, caps=(None, 2.0)), PAIR)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"epsilon": 0.0}, "eps"),
        ({"users": 1}, "users"),
        ({"users": True}, "users"),
        ({"colluders": 100}, "colluders"),
        ({"colluders": -1}, "colluders"),
        ({"caps": (0.0,)}, "conditional eps"),
        ({"caps": (float("nan"),)}, "conditional eps"),
    ],
)
def test_bad_input_names_its_field(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Collusion(**({"epsilon": 1.0, "users": 100} | arguments))  # type: ignore[arg-type]
    assert caught.value.field == field


def test_numpy_s_numbers_are_the_same_requirement() -> None:
    assert Collusion(np.float64(1), np.int64(100), np.int64(5)) == Collusion(1.0, 100, 5)
