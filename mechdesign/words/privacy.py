"""What privacy must hold, as values: who may learn what, and how much.

A problem offers its requirement (``problem.privacy``); `mechdesign.exact.privacy.prove` decides exactly whether a
mechanism keeps it and says what it gives away. Everything between the two carries the value and does not look inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from mechdesign.errors import InvalidInput, require_epsilon, require_number, require_whole
from mechdesign.values.declare import epsilon, field, frozen, option, whole
from mechdesign.words.pairs import Metric, Pairs, Pairwise, from_file, graph, metric, personal, sensitive

__all__ = [
    "Approximate",
    "Collusion",
    "Metric",
    "Pairwise",
    "Privacy",
    "Pure",
    "from_file",
    "graph",
    "metric",
    "personal",
    "require_caps",
    "require_colluders",
    "sensitive",
]


@frozen
class Pure:
    """Epsilon-LDP: no report is more than ``e^epsilon`` times as likely from one input as from any other."""

    kind: ClassVar[str] = "pure"
    resolved: ClassVar[float] = 1e-12  # of the largest loss: what optima of finite tables are known to
    inputs: ClassVar[None] = None  # it is about any

    epsilon: float = epsilon()

    @property
    def words(self) -> str:
        """As headings say it."""
        return f"eps = {self.epsilon:g}"


@frozen
class Approximate:
    """Epsilon-LDP but for a probability: no event is more than ``e^epsilon`` times as likely, plus ``delta``.

    >>> Approximate(1.0, 1e-6).words
    'eps = 1 with delta = 1e-06'
    """

    kind: ClassVar[str] = "approximate"
    resolved: ClassVar[float] = 1e-9  # of the largest loss: what programs with slacks are known to
    inputs: ClassVar[None] = None  # it is about any

    epsilon: float = epsilon()
    delta: float = field(converter=lambda said: require_delta(said))

    @property
    def words(self) -> str:
        """As headings say it."""
        return f"eps = {self.epsilon:g} with delta = {self.delta:g}"


def require_caps(caps: Iterable[float | None]) -> tuple[float | None, ...]:
    """The epsilons that one, two, ... known partners may cost at most, or `InvalidInput`; None is no cap."""
    said = tuple(caps)
    for cap in said:
        if cap is not None and not require_number(cap, "conditional eps") > 0:
            step = "every cap above 0 is feasible: independent answers at that eps keep it"
            raise InvalidInput("conditional eps", cap, "be above 0", step)
    return tuple(None if cap is None else require_epsilon(cap, "conditional eps") for cap in said)


_CAPS = option("--conditional-eps", "Cap on eps if one partner colludes; A,B,... if one, two, ... do.")


@frozen
class Collusion:
    """What a joint response may give away about one of ``users`` if ``colluders`` others tell the collector all.

    On average over the random grouping the ratio is at most ``e^epsilon`` (theorem 3 of the JRR paper); once c partners
    of one's own group are known to collude, at most ``e^(caps[c-1])``, None for no cap.

    >>> Collusion(1.0, users=10000, colluders=500, caps=(2.0,)).caps
    (2.0,)
    """

    kind: ClassVar[str] = "collusion"
    resolved: ClassVar[float] = 0.0  # variances of counts are proven to their last digits

    epsilon: float = epsilon()
    users: int = whole("users", 2, metadata=option("--users", "How many users report (10000)."))
    colluders: int = whole(
        "colluders", 0, default=0, metadata=option("--colluders", "Users who tell the collector all they know.")
    )
    caps: tuple[float | None, ...] = field(default=(), converter=require_caps, metadata=_CAPS)

    def __attrs_post_init__(self) -> None:
        require_colluders(self.colluders, self.users)

    @property
    def words(self) -> str:
        """As headings say it."""
        return f"eps = {self.epsilon:g}"


_DELTA = option("--delta", "A probability with which more than eps may be learnt.")


@frozen
class Hidden:
    """What answers of ``users`` drawn together may give away about one user to who knows all about all others.

    Their values and their reports: the ratio of the chances of a report is at most ``e^epsilon``, but for a probability
    ``delta``. A report consists of ``answers`` drawn on their own in which two values may differ: 2 for the bits of
    unary encoding.

    >>> Hidden(1.0, users=1000).delta
    0.0
    """

    kind: ClassVar[str] = "hidden"
    resolved: ClassVar[float] = 0.0

    epsilon: float = epsilon()
    users: int = whole("users", 2)
    delta: float = field(default=0.0, converter=lambda said: require_delta(said), metadata=_DELTA)
    answers: int = whole("answers", 1, 2, default=1)

    def __attrs_post_init__(self) -> None:
        if self.delta and self.answers > 1:
            raise InvalidInput("delta", self.delta, "be 0 for unary encoding", "leave --delta out")

    @property
    def words(self) -> str:
        """As headings say it."""
        return f"eps = {self.epsilon:g}" + (f" but for a chance of {self.delta:g}" if self.delta else "")


def require_delta(delta: float) -> float:
    """A probability that is small, or `InvalidInput`."""
    said = require_number(delta, "delta")
    if not 0 <= said < 1:
        raise InvalidInput("delta", delta, "be at least 0 and below 1", "for example 1e-6")
    return float(said)


def require_colluders(colluders: int, users: int) -> int:
    """A number of colluding users that leaves one to be protected, or `InvalidInput`."""
    try:
        return require_whole(colluders, "colluders", 0, users - 1)
    except InvalidInput:
        rule = f"be a whole number from 0 to {users - 1}, less than the users"
        raise InvalidInput("colluders", colluders, rule) from None


Privacy = Pure | Approximate | Collusion | Hidden | Pairs
"""Every requirement there is: what proves it stands in `mechdesign.exact.privacy`."""
