"""The rivals of a response on a grid: those of sign patterns."""

from mechdesign.methods.sign_patterns.rivalry import RIVALRY as RIVALRY
