"""Advice on answers out of a list: every one-time protocol by the exact variance of its estimates."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.hidden import MOST_PEAKED
from mechdesign.methods.hidden_joint.crowd import Crowd
from mechdesign.methods.hidden_joint.proof import attained_by
from mechdesign.methods.hidden_joint.search import best_peaked
from mechdesign.studies.advice.answer import EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command, to_an_answer
from mechdesign.studies.advice.question import Question, dataset_of
from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS, protocol
from mechdesign.studies.frequencies.protocols.protocol import variances
from mechdesign.studies.frequencies.shipping import SHIPPED
from mechdesign.values.declare import Floats

ONE_TIME = tuple(entry.key for entry in PROTOCOLS if not entry.longitudinal)
UNIT = "root mean squared error of an estimated share (1 is all users), over the answers"
_TABLE = "answers.table.json"
_RESPONSE = "grr"  # the only protocol whose law is a small table
_YES_NO = ("no", "yes")
_EVEN, _FEW, _WORTH_SAYING = 0.2, 0.05, 0.9
_MOST_NAMED = 50  # answers for which a table lists all chances


def advise_shares(question: Question) -> Advice:
    """The protocol with the least variance for this many answers and users."""
    if question.labels is not None and question.size not in (None, len(question.labels)):
        raise InvalidInput("size", question.size, f"be {len(question.labels)}, as there are labels", "drop --size")
    data = dataset_of(question)
    size = len(question.labels) if question.labels is not None else question.size
    if question.want == "yes-no" and size is None:
        size = 2
    if data is not None:
        if size is not None and data.size > size:
            raise InvalidInput("size", size, f"be at least {data.size}, the answers in the data")
        size = size or data.size
    if size is None:
        raise InvalidInput("size", None, "be given, or labels or data", "for example --size 5 or --labels no,yes")
    if question.want == "yes-no" and size != 2:
        raise InvalidInput("labels", f"{size} of them", "be two for yes or no", "or take --want categories")
    users = question.users(None if data is None else data.n)
    shares = np.full(size, 1 / size)
    if data is not None:
        shares = np.concatenate([data.frequencies, np.zeros(size - data.size)])
    rated = share_field(question.epsilon, size, users, shares)
    bits = protocol(rated[0].mechanism, question.epsilon, size).report_bits
    observed = None
    if data is not None and question.labels is None:
        observed = (
            f"{data.size} answers were observed. What was observed is not private: give the list of answers "
            "that is known beforehand with --labels. A table without them is for numbers of answers: 0, 1, ..."
        )
    even = "with the shares in the data" if data is not None else "with all answers equally frequent"
    why = (
        f"Of {len(rated)} one-time protocols for {size} answers and {users} users, {rated[0].mechanism} has the least "
        f"variance, computed exactly {even}; a report of it takes {counted_bits(bits)}.",
        _next(rated),
        _together(question.epsilon, users, shares) if size == 2 else None,
        observed,
    )
    commands, later = _commands(question, size, users, [one.mechanism for one in rated])
    return advice(question.want, question.epsilon, users, rated, why, commands, later)


def _together(epsilon: float, users: int, shares: Floats) -> str | None:
    """What drawing together who lies would be worth: at these shares, or where few give one of the answers."""
    if not 2 <= users <= MOST_PEAKED:
        return None
    even = bool(abs(shares[0] - shares[1]) < _EVEN)
    share = _FEW if even else float(min(shares))
    if not round(share * users):
        return None
    crowd = Crowd(epsilon, users, share)
    part = attained_by(best_peaked(crowd), crowd) / crowd.independent_variance
    if part > _WORTH_SAYING:
        return None
    where = f"Where {100 * share:g}% give one of the answers, users" if even else "Users"
    return (
        f"{where} who draw together who of them lies have {100 * part:.3g}% of the variance at the same eps, even if "
        "all others collude - if three servers (no two of them together) or a dealer may draw it: see jrr --hidden."
    )


def counted_bits(bits: float) -> str:
    """
    >>> counted_bits(1.0), counted_bits(164.4)
    ('1 bit', '165 bits')
    """
    whole = math.ceil(bits)
    return f"{whole} bit" + ("" if whole == 1 else "s")


def share_field(epsilon: float, size: int, users: int, shares: Floats | None = None) -> list[Rated]:
    """One-time protocols by the root mean squared error of a share; of equals first the one with the shortest report.

    >>> [one.mechanism for one in share_field(1.0, 2, 1000)][0]
    'grr'
    """
    held = np.full(size, 1 / size) if shares is None else shares
    laws = {key: protocol(key, epsilon, size) for key in ONE_TIME}
    errors = {key: math.sqrt(float(np.mean(variances(law, held, users)))) for key, law in laws.items()}
    rated = [Rated(key, Expected(error, error, UNIT, EXACT)) for key, error in errors.items()]
    return ranked(rated, sorted(laws, key=lambda key: (laws[key].report_bits, key != _RESPONSE)))


def _next(rated: Sequence[Rated]) -> str:
    above = 100 * (rated[1].expected_error.upper / rated[0].expected_error.upper - 1)
    text = f"{above:.3g}% above it" if above > 1e-6 else "as good (the same law, or a longer report)"
    return f"{rated[1].mechanism}, the next, is {text}."


def _commands(question: Question, size: int, users: int, names: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """Answers that are known by name are taken by name; others, which data are not to tell, have numbers."""
    eps, labels = question.epsilon, question.labels
    if labels is None and question.want == "yes-no" and question.source is None:
        labels = _YES_NO
    best = next(name for name in names if name in SHIPPED)
    way = {"mechanism": best} if best == _RESPONSE and size <= _MOST_NAMED else {"protocol": best}
    items = {"size": size} if labels is None else {"labels": _line(labels)}
    table = command("table", eps=eps, **way, **items, out=_TABLE)
    source = None if labels is None else question.source
    then, later = to_an_answer(_TABLE, source, question.column)
    if question.source is None:
        return (table, *then, command("protocols", eps=eps, size=size, users=users)), later
    if labels is not None:
        return (table, *then), later
    tried = ",".join(names[:3])
    look = command("bench", eps=eps, dataset=question.source, column=question.column, protocols=tried)
    return (look, table, *then), later


def _line(labels: Sequence[str]) -> str:
    """Labels as a line of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(labels)
    return text.getvalue()
