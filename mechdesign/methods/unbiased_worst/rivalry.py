"""The rivals of an unbiased design: published mechanisms without a bias, by their variance."""

from mechdesign.methods.unbiased_piecewise.rivalry import UnbiasedRivalry

RIVALRY = UnbiasedRivalry()
