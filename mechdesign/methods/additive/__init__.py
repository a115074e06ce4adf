"""Additive noise with a law for each input."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.additive.proof import AdditiveBound as AdditiveBound, Tails as Tails
    from mechdesign.methods.additive.search import total_variance as total_variance
    from mechdesign.methods.additive.supports import fits as fits, usual_bins as usual_bins
    from mechdesign.methods.additive.tuning import Trial as Trial, Tuning as Tuning, tune as tune
else:
    __getattr__, __dir__ = facade(__name__)
