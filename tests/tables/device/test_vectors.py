"""Vectors of states: every outcome there is, and no state longer than any device's."""

from __future__ import annotations

import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import make_table
from mechdesign.tables.device import Device
from mechdesign.tables.device.state import MOST_STATE
from mechdesign.tables.device.vectors import vectors
from mechdesign.words.domains import Interval
from tests.oracles.device_reports import LABELS, response

DEVICES = (
    Device(response(2.0, 3, LABELS), response(1.0, 3, LABELS), values=2, reports=5),
    Device(response(1.0, 3, LABELS), None, values=2, reports=5),
    Device(make_table(catalogue.pm(1.0, Interval(-3, 7)), 16), None, values=0, reports=3),
)


def test_vectors_hold_every_outcome_a_state_has() -> None:
    steps = [step for device in DEVICES for step in vectors(device)]
    words = {step.outcome for step in steps if len(step.outcome) != 16}
    refusals = {"missing", "damaged", "other", "rolled-back", "past", "ahead", "exhausted", "present"}
    assert words == {"done", "input"} | refusals
    assert sum(len(step.outcome) == 16 for step in steps) > 12


@pytest.mark.parametrize(
    "device",
    [Device(response(1.0, 2), None, 4096, 3), Device(protocol_table("oue", 1.0, 800), None, 630, 3)],
    ids=["numbers", "items"],
)
def test_no_vector_loads_a_state_that_is_longer_than_that_of_any_device(device: Device) -> None:
    assert max(len(step.before or b"") for step in vectors(device)) <= MOST_STATE + 1
