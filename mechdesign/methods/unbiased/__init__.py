"""The least average variance under a prior with ``E[Y|x] = x``."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.unbiased.proof import UnbiasedPriorBound as UnbiasedPriorBound
else:
    __getattr__, __dir__ = facade(__name__)
