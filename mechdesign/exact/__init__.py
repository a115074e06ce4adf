"""Exact arithmetic that every proof rests on: rational bounds of ``e^eps``, privacy, and sums that are not rounded."""

from mechdesign.exact.privacy import PrivacyProof, prove_privacy
from mechdesign.exact.rational import exp_lower, exp_upper, float_down, float_up

__all__ = ["PrivacyProof", "exp_lower", "exp_upper", "float_down", "float_up", "prove_privacy"]
