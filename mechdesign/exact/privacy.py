"""Privacy, decided in rational arithmetic: what a mechanism gives away, and whether that is allowed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from mechdesign.errors import CheckFailed, require_epsilon
from mechdesign.exact.collusion import JointPrivacy, privacy_of, prove_joint_privacy
from mechdesign.exact.hidden import hidden_excess, hidden_loss
from mechdesign.exact.hockey import prove_approximate
from mechdesign.exact.pairs import prove_pairs
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.hidden import MOST_COUNTED, CountedResponse, HiddenResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.protocol import require_law
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values.codec import encoded
from mechdesign.values.declare import frozen
from mechdesign.words.pairs import Pairs
from mechdesign.words.privacy import Approximate, Collusion, Hidden, Privacy, Pure


class Account(Protocol):
    """What was proved of a mechanism, and what it gives away, exactly."""

    @property
    def privacy(self) -> Privacy:
        """The requirement that it keeps."""
        ...

    @property
    def loss(self) -> float:
        """Its privacy loss: the epsilon that it really has."""
        ...

    @property
    def words(self) -> tuple[str, ...]:
        """What it gives away, a sentence a line."""
        ...

    def document(self) -> dict[str, Any]:
        """The account as JSON."""
        ...


def loss_in_words(loss: float) -> tuple[str, ...]:
    """
    >>> loss_in_words(0.5)
    ('privacy loss: 0.5 (computed exactly, at most eps)',)
    """
    return (f"privacy loss: {loss:.12g} (computed exactly, at most eps)",)


def prove(privacy: Privacy, mechanism: Any) -> Account:
    """The account of a mechanism that keeps the requirement, or `CheckFailed`.

    >>> from mechdesign.mechanisms.catalogue import pm
    >>> round(prove(Pure(1.0), pm(1.0)).loss, 12)
    1.0
    """
    if isinstance(privacy, Pairs):
        return prove_pairs(mechanism, privacy)
    match privacy:
        case Pure():
            if not isinstance(mechanism, _HasRatio):
                raise CheckFailed("a joint response has no law of one user's report that could be epsilon-LDP")
            return prove_privacy(mechanism, privacy.epsilon)
        case Approximate():
            return prove_approximate(mechanism, privacy)
        case Collusion():
            return prove_collusion(mechanism, privacy)
        case Hidden():
            return prove_hidden(mechanism, privacy)


# -- one user's report -------------------------------------------------------------------------------------------------


@runtime_checkable
class _HasRatio(Protocol):
    @property
    def name(self) -> str: ...
    def likelihood_ratio(self) -> LikelihoodRatio: ...


@frozen
class PrivacyProof:
    """The exact likelihood ratio of a mechanism beside the epsilon it is held to."""

    epsilon: float
    ratio: LikelihoodRatio

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def loss(self) -> float:
        return self.ratio.loss

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

    @property
    def words(self) -> tuple[str, ...]:
        return loss_in_words(self.loss)

    def document(self) -> dict[str, Any]:
        return {**encoded(self.privacy), "loss": self.loss}


def prove_privacy(mechanism: _HasRatio, epsilon: float) -> PrivacyProof:
    """The proof that the mechanism is epsilon-LDP, or `CheckFailed`.

    >>> from mechdesign.mechanisms.catalogue import pm
    >>> prove_privacy(pm(1.0), 1.0).holds
    True
    """
    if not isinstance(mechanism, _HasRatio):
        require_law(mechanism)
    proof = PrivacyProof(require_epsilon(epsilon), mechanism.likelihood_ratio())
    if not proof.holds:
        raise CheckFailed(
            f"{mechanism.name} has privacy loss {proof.ratio.loss!r}, above the epsilon {epsilon!r} it is held to"
        )
    return proof


# -- a group's reports -------------------------------------------------------------------------------------------------


@frozen
class CollusionProof:
    """What a joint response was proven to keep, and all that it gives away."""

    privacy: Collusion
    losses: JointPrivacy

    @property
    def loss(self) -> float:
        """The averaged epsilon, rounded up."""
        return self.losses.averaged

    @property
    def words(self) -> tuple[str, ...]:
        return loss_in_words(self.loss)

    def document(self) -> dict[str, Any]:
        return {
            **encoded(self.privacy),
            "averaged_epsilon": self.losses.averaged,
            "conditional_epsilons": list(self.losses.conditional),
        }


def prove_collusion(mechanism: Any, privacy: Collusion) -> CollusionProof:
    """The proof that a joint response keeps its averaged budget and every cap, or `CheckFailed`.

    >>> law = JointResponse.pair(Fraction(7, 10), 0)
    >>> prove_collusion(law, Collusion(1.0, users=100, colluders=5)).losses.averaged == prove_collusion(
    ...     law, Collusion(1.0, users=100)
    ... ).loss
    True
    """
    if not isinstance(mechanism, JointResponse):
        raise CheckFailed(f"what colluders learn is a matter of joint responses, not of a {type(mechanism).__name__}")
    if len(privacy.caps) >= mechanism.group:
        raise CheckFailed(f"{len(privacy.caps)} partners are capped, and a group of {mechanism.group} has fewer")
    prove_joint_privacy(mechanism, privacy.epsilon, privacy.users, privacy.colluders, privacy.caps)
    return CollusionProof(privacy, privacy_of(mechanism, privacy.users, privacy.colluders))


# -- all users' reports ------------------------------------------------------------------------------------------------


@frozen
class HiddenProof:
    """What a law of the number of liars was proven to keep, and the epsilon that it really has."""

    privacy: Hidden
    loss: float

    @property
    def words(self) -> tuple[str, ...]:
        return loss_in_words(self.loss)

    def document(self) -> dict[str, Any]:
        return {**encoded(self.privacy), "loss": self.loss}


def prove_hidden(mechanism: Any, privacy: Hidden) -> HiddenProof:
    """The proof that a user's report is (epsilon, delta)-private to who knows all others, or `CheckFailed`.

    >>> law = PeakedResponse(100, 29, exp_lower(1.0))
    >>> prove_hidden(law, Hidden(1.0, users=100)).loss
    1.0
    """
    if not isinstance(mechanism, PeakedResponse | CountedResponse):
        raise CheckFailed(
            f"what all others learn is a matter of hidden joint laws, not of a {type(mechanism).__name__}"
        )
    law: HiddenResponse = mechanism
    if law.users != privacy.users:
        raise CheckFailed(f"the law is for {law.users} users, and {privacy.users} are asked for")
    each = Fraction(privacy.epsilon) / privacy.answers
    if not _keeps(law, exp_lower(each), Fraction(privacy.delta)):
        raise CheckFailed(f"the law does not keep epsilon {privacy.epsilon!r} but for a chance of {privacy.delta!r}")
    least = hidden_loss(law, law.users, law.users - 1, privacy.delta)
    return HiddenProof(privacy, min(least.upper * privacy.answers, privacy.epsilon))


def _keeps(law: HiddenResponse, ratio: Fraction, delta: Fraction) -> bool:
    """Whether the excess over ``e^eps = ratio`` is at most delta; of many users only what a law's ratio says."""
    if isinstance(law, PeakedResponse) and law.ratio > ratio and (delta == 0 or law.users > MOST_COUNTED):
        return False
    return hidden_excess(law, ratio) <= delta
