"""The rivals of an unbiased design: published mechanisms without a bias, by their variance."""

from mechdesign.methods.rivalry import UnbiasedRivalry

RIVALRY = UnbiasedRivalry()
