"""The least average error under a prior, by randomised response on the best bins."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.prior.proof import BinsBound as BinsBound
else:
    __getattr__, __dir__ = facade(__name__)
