"""What a server estimates from reports, and how far off it is."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.collect.descriptor import Descriptor as Descriptor, EdgeResponse as EdgeResponse
    from mechdesign.collect.fit import Fit as Fit, examine as examine, require_fit as require_fit
    from mechdesign.collect.intervals import Intervals as Intervals, share_intervals as share_intervals
    from mechdesign.collect.joint import (
        JointErrors as JointErrors,
        accuracy as accuracy,
        simulate_errors as simulate_errors,
        simulate_estimates as simulate_estimates,
        simulate_reports as simulate_reports,
    )
    from mechdesign.collect.mean import (
        EstimatedMean as EstimatedMean,
        expected_error as expected_error,
        mean_of_reports as mean_of_reports,
        mean_without_privacy as mean_without_privacy,
    )
    from mechdesign.collect.mean_methods import MeanMethod as MeanMethod
    from mechdesign.collect.numeric import (
        Accuracy as Accuracy,
        bin_shares as bin_shares,
        circular_mean as circular_mean,
        estimate_distribution as estimate_distribution,
        estimate_mean as estimate_mean,
        simulate_distribution as simulate_distribution,
        simulate_mean as simulate_mean,
    )
    from mechdesign.collect.protocols.attributes import (
        sampled_attribute as sampled_attribute,
        sampled_with_fakes as sampled_with_fakes,
        split_budget as split_budget,
    )
    from mechdesign.collect.protocols.bloom import bloom_rappor as bloom_rappor, rappor as rappor
    from mechdesign.collect.protocols.catalogue import PROTOCOLS as PROTOCOLS, protocol as protocol
    from mechdesign.collect.protocols.designed import designed as designed
    from mechdesign.collect.protocols.prefix import prefix_search as prefix_search
    from mechdesign.collect.protocols.protocol import FrequencyProtocol as FrequencyProtocol
    from mechdesign.collect.reports import Counted as Counted, count_reports as count_reports
    from mechdesign.collect.several import collect_means as collect_means, scaled_means as scaled_means
    from mechdesign.collect.shipping import (
        as_protocol as as_protocol,
        decoded as decoded,
        encoding as encoding,
        protocol_table as protocol_table,
    )
    from mechdesign.collect.square_wave import estimate_by_em as estimate_by_em, estimate_by_ems as estimate_by_ems
    from mechdesign.collect.survey import Survey as Survey
    from mechdesign.collect.survey_shares import estimate_surveys as estimate_surveys
    from mechdesign.collect.tuning import tune_two_phase as tune_two_phase
    from mechdesign.collect.two_phase import (
        TwoPhasePlan as TwoPhasePlan,
        additive_form as additive_form,
        free_form as free_form,
        simulate_once as simulate_once,
        simulate_two_phase as simulate_two_phase,
    )
else:
    __getattr__, __dir__ = facade(__name__)
