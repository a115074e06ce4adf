"""Exact arithmetic that every proof rests on: rational bounds of ``e^eps``, privacy, and sums that are not rounded."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.exact.privacy import PrivacyProof as PrivacyProof, prove_privacy as prove_privacy
    from mechdesign.exact.rational import (
        exp_lower as exp_lower,
        exp_upper as exp_upper,
        float_down as float_down,
        float_up as float_up,
    )
else:
    __getattr__, __dir__ = facade(__name__)
