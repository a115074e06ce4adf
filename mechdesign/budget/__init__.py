"""Budgets: the smallest epsilon that meets a utility constraint or a capacity requirement, with the evidence for it."""

from mechdesign.budget.adversary import Detection, Threat, confusion, detection, threat
from mechdesign.budget.capacity import Capacity, Requirement
from mechdesign.budget.capri import Totals, capri, capri_from, over_time, selection_law, simulate_etc
from mechdesign.budget.capri_exact import Exceedance, budget, chebyshev
from mechdesign.budget.certified import Bracket
from mechdesign.budget.choice import capacity_options, ranked
from mechdesign.budget.constraint import Constraint
from mechdesign.budget.ledger import Memory
from mechdesign.budget.mean_route import law_of_sum, mean_budget
from mechdesign.budget.outlook import Outlook, outlook
from mechdesign.budget.runner import METHODS, Answer, Store, Task, run
from mechdesign.budget.searches import Range, Selected
from mechdesign.budget.simulation import Question

__all__ = [
    "METHODS",
    "Answer",
    "Bracket",
    "Capacity",
    "Constraint",
    "Detection",
    "Exceedance",
    "Memory",
    "Outlook",
    "Question",
    "Range",
    "Requirement",
    "Selected",
    "Store",
    "Task",
    "Threat",
    "Totals",
    "budget",
    "capacity_options",
    "capri",
    "capri_from",
    "chebyshev",
    "confusion",
    "detection",
    "law_of_sum",
    "mean_budget",
    "outlook",
    "over_time",
    "ranked",
    "run",
    "selection_law",
    "simulate_etc",
    "threat",
]
