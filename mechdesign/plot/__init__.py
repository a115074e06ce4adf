"""Pictures: densities, errors, certified optima and their structure. Matplotlib is imported on use."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.plot.budget import (
        BudgetPanel as BudgetPanel,
        Curve as Curve,
        Selection as Selection,
        budgets as budgets,
        selections as selections,
        trade_off as trade_off,
    )
    from mechdesign.plot.canvas import (
        fit_titles as fit_titles,
        printable as printable,
        rendered as rendered,
        require_plot_format as require_plot_format,
        require_size as require_size,
        require_title as require_title,
        save as save,
    )
    from mechdesign.plot.certified import (
        Line as Line,
        Slice as Slice,
        probability_table as probability_table,
        structure as structure,
        window_law as window_law,
    )
    from mechdesign.plot.designs import of as of
    from mechdesign.plot.errors import (
        Measured as Measured,
        above as above,
        comparison as comparison,
        draw_errors as draw_errors,
        draw_floor as draw_floor,
        draw_leaderboard as draw_leaderboard,
        draw_over_epsilon as draw_over_epsilon,
        errors_over_inputs as errors_over_inputs,
        measured_over_epsilon as measured_over_epsilon,
        pareto as pareto,
        sweep as sweep,
        worst_cases as worst_cases,
    )
    from mechdesign.plot.gains import gains as gains
    from mechdesign.plot.gallery import drawn_by as drawn_by, exhibit as exhibit
    from mechdesign.plot.heat import HeatMap as HeatMap, heat_maps as heat_maps
    from mechdesign.plot.laws import densities as densities, polar_density as polar_density
    from mechdesign.plot.rankings import ranking as ranking
    from mechdesign.plot.tables import table_law as table_law
    from mechdesign.plot.workload import workload_design as workload_design
else:
    __getattr__, __dir__ = facade(__name__, "gains")
