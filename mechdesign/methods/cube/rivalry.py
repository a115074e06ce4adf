"""The rivals of a response on a grid under a prior: those of sign patterns, which answer the worst case first."""

from mechdesign.methods.sign_patterns.rivalry import RIVALRY as RIVALRY
