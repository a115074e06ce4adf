"""Tables and their optima as theorems that Coq checks: the theories, what is written of a table, and who runs Coq.

``theories`` is a project of Coq as it stands: laws of tables and a check that makes them private, floors under every
mechanism, both proven once. Of a table only numbers are written, and two theorems that say what those numbers are.
"""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.tables.formal.accepting import (
        REALS as REALS,
        Acceptance as Acceptance,
        Refusal as Refusal,
        acceptance_of as acceptance_of,
        build_theories as build_theories,
        require_checked_again as require_checked_again,
        require_coq as require_coq,
        theorems as theorems,
    )
    from mechdesign.tables.formal.floors.evidence import stated_floor as stated_floor
    from mechdesign.tables.formal.floors.stated import StatedFloor as StatedFloor
    from mechdesign.tables.formal.source import (
        ENDING as ENDING,
        export_proof as export_proof,
        proof_difference as proof_difference,
        proof_name as proof_name,
        proof_of as proof_of,
    )
else:
    __getattr__, __dir__ = facade(__name__)
