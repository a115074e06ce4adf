"""Budgets: the smallest epsilon that meets a utility constraint or a capacity requirement, with the evidence for it."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.budget.adversary import (
        Detection as Detection,
        Threat as Threat,
        confusion as confusion,
        detection as detection,
        threat as threat,
    )
    from mechdesign.budget.alarms import search_alarms as search_alarms
    from mechdesign.budget.capacity import Capacity as Capacity, Requirement as Requirement
    from mechdesign.budget.capri import (
        Totals as Totals,
        capri as capri,
        capri_from as capri_from,
        over_time as over_time,
        selection_law as selection_law,
        simulate_etc as simulate_etc,
    )
    from mechdesign.budget.capri_exact import Exceedance as Exceedance, budget as budget, chebyshev as chebyshev
    from mechdesign.budget.certified import Bracket as Bracket
    from mechdesign.budget.choice import capacity_options as capacity_options, ranked as ranked
    from mechdesign.budget.constraint import Constraint as Constraint
    from mechdesign.budget.ledger import Memory as Memory
    from mechdesign.budget.mean_route import law_of_sum as law_of_sum, mean_budget as mean_budget
    from mechdesign.budget.outlook import Outlook as Outlook, outlook as outlook
    from mechdesign.budget.runner import (
        METHODS as METHODS,
        Answer as Answer,
        Settings as Settings,
        Store as Store,
        Task as Task,
        run as run,
    )
    from mechdesign.budget.searches import Range as Range, Selected as Selected
    from mechdesign.budget.simulation import Question as Question
else:
    __getattr__, __dir__ = facade(__name__, "capri", "outlook")
