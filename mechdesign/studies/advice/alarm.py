"""Advice on a capacity alarm: the smallest epsilon that keeps it right, over protocols and numeric mechanisms."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.studies.advice.answer import EXACT, Advice, Expected, Rated, advice
from mechdesign.studies.advice.commands import command, number
from mechdesign.studies.advice.question import Question, values_of
from mechdesign.studies.advice.shares import ONE_TIME
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.budgets.choice import Option, capacity_options
from mechdesign.studies.budgets.populations import water_like
from mechdesign.studies.frequencies.datasets import read_dataset
from mechdesign.values.digits import rounded_up

NUMERIC = ("laplace", "staircase", "duchi", "pm", "hm", "ogpm-u")
_POPULATION = "water-like"


def advise_alarm(question: Question) -> Advice:
    """The mechanism that needs the smallest epsilon for the requirement."""
    if question.capacity is None:
        raise InvalidInput("capacity", None, "be given for an alarm", "for example --capacity 1700000")
    values, counts = _consumptions(question)
    capacity = Capacity(values, counts, question.capacity)
    requirement = Requirement(question.metric, question.tau)
    options = capacity_options(capacity, requirement, (*ONE_TIME, *NUMERIC))
    unit = f"the smallest epsilon that has {requirement.words}"
    meeting = [option for option in options if option.epsilon is not None]
    if not meeting:
        rule = f"be possible ({requirement.words} holds at no eps that was tried)"
        raise InvalidInput("requirement", requirement.words, rule, "take another tau or capacity")
    rated = [Rated(option.name, _needed(option, unit)) for option in meeting]
    tried = ",".join(one.mechanism for one in rated[:3])
    asked = {"capacity": number(question.capacity)}
    asked |= {"population": _POPULATION} if question.source is None else {"data": str(question.source)}
    if question.column is not None:
        asked["column"] = question.column
    wanted = {"metric": question.metric, "tau": number(question.tau)}
    made = None
    if not question.has_data:
        made = f"There are no data: the consumptions are those of {_POPULATION}, {int(counts.sum())} made households."
    why = (
        f"Of {len(options)} ways to report a consumption, {len(rated)} meet {requirement.words} at some eps; "
        f"{rated[0].mechanism} does at the smallest.",
        "Frequency protocols are exact; numeric mechanisms have an interval from the Berry-Esseen theorem.",
        made,
    )
    commands = (
        command("capacity", protocol=tried, **asked, **wanted),
        command("capacity", protocol=rated[0].mechanism, at_eps=_rounded(meeting[0]), **asked),
        command("capacity", protocol=tried, plot="alarm.png", **asked, **wanted),
    )
    return advice(question.want, question.eps, int(counts.sum()), rated, why, commands)


def _needed(option: Option, unit: str) -> Expected:
    assert option.epsilon is not None
    if option.exact or option.interval is None:
        return Expected(option.epsilon, option.epsilon, unit, EXACT)
    low, high = option.interval
    return Expected(0.0 if low is None else low, math.inf if high is None else high, unit, "surely between")


def _rounded(option: Option) -> str:
    assert option.epsilon is not None
    return rounded_up(option.epsilon, 3)


def _consumptions(question: Question) -> tuple[np.ndarray, np.ndarray]:
    if question.source is not None:
        data = read_dataset(question.source, column=question.column, numeric=True)
        return np.array([float(label) for label in data.labels]), np.asarray(data.counts)
    numbers = values_of(question)
    if numbers is None:
        counts = water_like()
        return np.arange(counts.size, dtype=np.float64), counts
    return np.unique(numbers, return_counts=True)
