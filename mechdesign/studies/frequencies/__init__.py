"""What a server estimates from reports, and how far off it is."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.studies.frequencies.descriptor import Descriptor as Descriptor, EdgeResponse as EdgeResponse
    from mechdesign.studies.frequencies.fit import Fit as Fit, examine as examine, require_fit as require_fit
    from mechdesign.studies.frequencies.intervals import Intervals as Intervals, share_intervals as share_intervals
    from mechdesign.studies.frequencies.joint import (
        JointErrors as JointErrors,
        accuracy as accuracy,
        simulate_errors as simulate_errors,
        simulate_estimates as simulate_estimates,
        simulate_reports as simulate_reports,
    )
    from mechdesign.studies.frequencies.mean import (
        EstimatedMean as EstimatedMean,
        expected_error as expected_error,
        mean_of_reports as mean_of_reports,
        mean_without_privacy as mean_without_privacy,
    )
    from mechdesign.studies.frequencies.mean_methods import MeanMethod as MeanMethod
    from mechdesign.studies.frequencies.numeric import (
        Accuracy as Accuracy,
        bin_shares as bin_shares,
        circular_mean as circular_mean,
        estimate_distribution as estimate_distribution,
        estimate_mean as estimate_mean,
        simulate_distribution as simulate_distribution,
        simulate_mean as simulate_mean,
    )
    from mechdesign.studies.frequencies.protocols.attributes import (
        sampled_attribute as sampled_attribute,
        sampled_with_fakes as sampled_with_fakes,
        split_budget as split_budget,
    )
    from mechdesign.studies.frequencies.protocols.bloom import bloom_rappor as bloom_rappor, rappor as rappor
    from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS as PROTOCOLS, protocol as protocol
    from mechdesign.studies.frequencies.protocols.designed import designed as designed
    from mechdesign.studies.frequencies.protocols.prefix import prefix_search as prefix_search
    from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol as FrequencyProtocol
    from mechdesign.studies.frequencies.reports import Counted as Counted, count_reports as count_reports
    from mechdesign.studies.frequencies.several import collect_means as collect_means, scaled_means as scaled_means
    from mechdesign.studies.frequencies.shipping import (
        as_protocol as as_protocol,
        decoded as decoded,
        encoding as encoding,
        protocol_table as protocol_table,
    )
    from mechdesign.studies.frequencies.square_wave import (
        estimate_by_em as estimate_by_em,
        estimate_by_ems as estimate_by_ems,
    )
    from mechdesign.studies.frequencies.survey import Survey as Survey
    from mechdesign.studies.frequencies.survey_shares import estimate_surveys as estimate_surveys
    from mechdesign.studies.frequencies.tuning import tune_two_phase as tune_two_phase
    from mechdesign.studies.frequencies.two_phase import (
        TwoPhasePlan as TwoPhasePlan,
        additive_form as additive_form,
        free_form as free_form,
        simulate_once as simulate_once,
        simulate_two_phase as simulate_two_phase,
    )
else:
    __getattr__, __dir__ = facade(__name__)
