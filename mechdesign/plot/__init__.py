"""Pictures: densities, errors, certified optima and their structure. Matplotlib is imported on use."""

from mechdesign.plot.budget import BudgetPanel, Curve, Selection, budgets, selections, trade_off
from mechdesign.plot.canvas import (
    fit_titles,
    printable,
    rendered,
    require_plot_format,
    require_size,
    require_title,
    save,
)
from mechdesign.plot.certified import Line, Slice, probability_table, structure, window_law
from mechdesign.plot.designs import of
from mechdesign.plot.errors import (
    Measured,
    above,
    comparison,
    draw_errors,
    draw_floor,
    draw_leaderboard,
    draw_over_epsilon,
    errors_over_inputs,
    measured_over_epsilon,
    pareto,
    sweep,
    worst_cases,
)
from mechdesign.plot.gallery import drawn_by, exhibit
from mechdesign.plot.heat import HeatMap, heat_maps
from mechdesign.plot.laws import densities, polar_density
from mechdesign.plot.rankings import ranking
from mechdesign.plot.tables import table_law
from mechdesign.plot.workload import workload_design

__all__ = [
    "BudgetPanel",
    "Curve",
    "HeatMap",
    "Line",
    "Measured",
    "Selection",
    "Slice",
    "above",
    "budgets",
    "comparison",
    "densities",
    "draw_errors",
    "draw_floor",
    "draw_leaderboard",
    "draw_over_epsilon",
    "drawn_by",
    "errors_over_inputs",
    "exhibit",
    "fit_titles",
    "heat_maps",
    "measured_over_epsilon",
    "of",
    "pareto",
    "polar_density",
    "printable",
    "probability_table",
    "ranking",
    "rendered",
    "require_plot_format",
    "require_size",
    "require_title",
    "save",
    "selections",
    "structure",
    "sweep",
    "table_law",
    "trade_off",
    "window_law",
    "workload_design",
    "worst_cases",
]
