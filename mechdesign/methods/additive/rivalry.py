"""The rivals of an unbiased design: published mechanisms without a bias, by their variance under its prior."""

from mechdesign.methods.rivalry import UnbiasedRivalry

RIVALRY = UnbiasedRivalry()
