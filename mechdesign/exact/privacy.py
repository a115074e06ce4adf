"""Privacy, decided in rational arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from mechdesign.errors import CheckFailed, require_epsilon
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.ratio import LikelihoodRatio


class _HasRatio(Protocol):
    @property
    def name(self) -> str: ...
    def likelihood_ratio(self) -> LikelihoodRatio: ...


@dataclass(frozen=True, slots=True)
class PrivacyProof:
    """The exact likelihood ratio of a mechanism beside the epsilon it is held to."""

    epsilon: float
    ratio: LikelihoodRatio

    @property
    def holds(self) -> bool:
        """Whether ``ratio <= e^epsilon``, decided with a rational lower bound of the exponential.

        *Guarantee.* True implies epsilon-LDP. (False may also mean closer to the limit than a relative 2^-160.)
        """
        if self.ratio.ratio is None:
            return False
        room = Fraction(self.epsilon) - self.ratio.exponent
        if self.ratio.ratio == 1:
            return room >= 0
        return self.ratio.ratio <= exp_lower(room)


def prove_privacy(mechanism: _HasRatio, epsilon: float) -> PrivacyProof:
    """The proof that the mechanism is epsilon-LDP, or `CheckFailed`.

    >>> from mechdesign.mechanisms.catalogue import pm
    >>> prove_privacy(pm(1.0), 1.0).holds
    True
    """
    proof = PrivacyProof(require_epsilon(epsilon), mechanism.likelihood_ratio())
    if not proof.holds:
        raise CheckFailed(
            f"{mechanism.name} has privacy loss {proof.ratio.loss!r}, above the epsilon {epsilon!r} it is held to"
        )
    return proof
