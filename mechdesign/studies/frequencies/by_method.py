"""An estimate by the name of its method, and which methods a protocol has."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard

from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies import estimators, postprocess
from mechdesign.studies.frequencies.protocols.grr import Grr
from mechdesign.studies.frequencies.protocols.hadamard import HadamardResponse
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.ranking import IBU, LIKELY, PUBLISHED_IBU, RAW
from mechdesign.values.declare import Floats

if TYPE_CHECKING:
    from mechdesign.studies.frequencies.protocols.designed import Designed

MOST_LIKELY = 256
"""Maximum likelihood of reports other than randomised response needs their channel: only for so many items."""
_LIKELY_ENOUGH = 1e-7


def has_own_channel(protocol: FrequencyProtocol) -> TypeGuard[Designed]:
    """Whether it is a mechanism that was designed, which has a channel of its own."""
    from mechdesign.studies.frequencies.protocols.designed import Designed

    return isinstance(protocol, Designed)


def counts_reports(protocol: FrequencyProtocol) -> TypeGuard[Designed | HadamardResponse]:
    """Whether reports are few, so that how often each came is kept."""
    return isinstance(protocol, HadamardResponse) or has_own_channel(protocol)


def estimated(
    protocol: FrequencyProtocol,
    support: NDArray[Any] | None,
    n: int,
    method: str,
    reports: NDArray[Any] | None = None,
) -> Floats:
    """Frequencies from the support of n reports, post-processed; ``ml`` takes how often each report was sent.

    IBU of a designed mechanism is on its own channel, so its limit is maximum likelihood too.
    """
    if method == LIKELY or (method == IBU and has_own_channel(protocol)):
        if support is not None and reports_are_items(protocol):
            return estimators.ibu(support, protocol.p, protocol.q).frequencies
        if reports is None or not counts_reports(protocol):
            rule = f"be another one for {protocol.name}: it needs the number of times each report was sent"
            raise InvalidInput("method", method, rule)
        return estimators.maximum_likelihood(reports, _channel(protocol), tolerance=_LIKELY_ENOUGH).frequencies
    if support is None:
        raise InvalidInput(
            "method", method, f"be {LIKELY} or {IBU} for {protocol.name}, which has no unbiased estimate"
        )
    if method == IBU:
        return estimators.ibu(support, protocol.p, protocol.q).frequencies
    if method == PUBLISHED_IBU:
        return estimators.ibu_iterated(support, protocol.p, protocol.q, tolerance=0.0, accelerate=False).frequencies
    raw = protocol.estimate(support, n)
    if method == RAW:
        return raw
    noise = postprocess.SupportNoise(n, lambda f: protocol.variance(f, n))
    return postprocess.METHODS[method](raw, noise)


def has_estimate(protocol: FrequencyProtocol) -> bool:
    """Whether reports tell all items apart, so that there is an unbiased estimate to post-process."""
    return not has_own_channel(protocol) or protocol.has_inverse


def has_surrogate(protocol: FrequencyProtocol) -> bool:
    """Whether support counts reports, so that IBU has a likelihood to go by; noisy sums have none."""
    return protocol.q > 0


def has_likelihood(protocol: FrequencyProtocol) -> bool:
    """Whether the reports are few enough to be counted one by one."""
    return reports_are_items(protocol) or (counts_reports(protocol) and protocol.size <= MOST_LIKELY)


def reports_are_items(protocol: FrequencyProtocol) -> bool:
    """Whether a report is an item, so that support counts are counts of reports."""
    return isinstance(protocol.once if isinstance(protocol, Longitudinal) else protocol, Grr)


@lru_cache(maxsize=8)
def _channel(protocol: Designed | HadamardResponse) -> Floats:
    return protocol.channel()
