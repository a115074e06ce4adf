"""Several numbers of one person: some are drawn, rounded to signs, and the pattern of signs is reported."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.sign_patterns.proof import SignPatternsBound as SignPatternsBound
    from mechdesign.methods.sign_patterns.response import PatternResponse as PatternResponse
else:
    __getattr__, __dir__ = facade(__name__)
