"""The papers' printed numbers beside ours: every claim is computed, and its verdict follows from the numbers."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.papers.claims.catalogue import CLAIMS as CLAIMS, named as named, with_data as with_data
    from mechdesign.papers.claims.claim import (
        BEYOND as BEYOND,
        CORRECTED as CORRECTED,
        FAILS as FAILS,
        HOLDS as HOLDS,
        IN_CODE as IN_CODE,
        REPLACED as REPLACED,
        SIMULATED as SIMULATED,
        STAND_IN as STAND_IN,
        VERDICTS as VERDICTS,
        Claim as Claim,
        Item as Item,
        Outcome as Outcome,
        judge as judge,
    )
    from mechdesign.papers.claims.left_out import LEFT_OUT as LEFT_OUT, LeftOut as LeftOut
else:
    __getattr__, __dir__ = facade(__name__)
