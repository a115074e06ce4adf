"""Exact arithmetic: rational bounds of ``e^eps``, privacy, and lower bounds on what a class of mechanisms can do."""

from mechdesign.proof.bathtub import BathtubAtom, BathtubBound, exact_bias, exact_error
from mechdesign.proof.evidence import EVERYWHERE, IN_CLASS, IN_UNBIASED_CLASS, Evidence
from mechdesign.proof.minimax import MinimaxBound, exact_worst_error
from mechdesign.proof.privacy import PrivacyProof, prove_privacy
from mechdesign.proof.rational import exp_lower, exp_upper, float_down, float_up
from mechdesign.proof.unbiased import UnbiasedBound

__all__ = [
    "EVERYWHERE",
    "IN_CLASS",
    "IN_UNBIASED_CLASS",
    "BathtubAtom",
    "BathtubBound",
    "Evidence",
    "MinimaxBound",
    "PrivacyProof",
    "UnbiasedBound",
    "exact_bias",
    "exact_error",
    "exact_worst_error",
    "exp_lower",
    "exp_upper",
    "float_down",
    "float_up",
    "prove_privacy",
]
