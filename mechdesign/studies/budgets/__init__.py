"""Budgets: the smallest epsilon that meets a utility constraint or a capacity requirement, with the evidence for it."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.studies.budgets.adversary import (
        Detection as Detection,
        Threat as Threat,
        confusion as confusion,
        detection as detection,
        threat as threat,
    )
    from mechdesign.studies.budgets.alarms import search_alarms as search_alarms
    from mechdesign.studies.budgets.capacity import Capacity as Capacity, Requirement as Requirement
    from mechdesign.studies.budgets.capri import (
        Totals as Totals,
        capri as capri,
        capri_from as capri_from,
        over_time as over_time,
        selection_law as selection_law,
        simulate_etc as simulate_etc,
    )
    from mechdesign.studies.budgets.capri_exact import (
        Exceedance as Exceedance,
        budget as budget,
        chebyshev as chebyshev,
    )
    from mechdesign.studies.budgets.certified import Bracket as Bracket
    from mechdesign.studies.budgets.choice import capacity_options as capacity_options, ranked as ranked
    from mechdesign.studies.budgets.constraint import Constraint as Constraint
    from mechdesign.studies.budgets.ledger import Memory as Memory
    from mechdesign.studies.budgets.mean_route import law_of_sum as law_of_sum, mean_budget as mean_budget
    from mechdesign.studies.budgets.outlook import Outlook as Outlook, outlook as outlook
    from mechdesign.studies.budgets.runner import (
        METHODS as METHODS,
        Answer as Answer,
        Settings as Settings,
        Store as Store,
        Task as Task,
        run as run,
    )
    from mechdesign.studies.budgets.searches import Range as Range, Selected as Selected
    from mechdesign.studies.budgets.simulation import Question as Question
else:
    __getattr__, __dir__ = facade(__name__, "capri", "outlook")
