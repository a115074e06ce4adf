"""Reports on their way from devices to an estimate: collections of tables, envelopes, the collector, and signatures."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.tables.reports.collection import (
        Attribute as Attribute,
        Collection as Collection,
        Spending as Spending,
        load_collection as load_collection,
    )
    from mechdesign.tables.reports.collector import (
        Batch as Batch,
        Collector as Collector,
        Intake as Intake,
        Question as Question,
        Refused as Refused,
    )
    from mechdesign.tables.reports.envelope import Envelope as Envelope, Subject as Subject, enveloped as enveloped
    from mechdesign.tables.reports.merging import merged_estimate as merged_estimate
    from mechdesign.tables.reports.payload import payload_of as payload_of
    from mechdesign.tables.reports.shares import Added as Added, bits_of as bits_of, opened as opened, split as split
    from mechdesign.tables.reports.signing import (
        BadSignature as BadSignature,
        Signed as Signed,
        new_key as new_key,
        sign as sign,
        verify as verify,
    )
    from mechdesign.tables.reports.store import Store as Store
else:
    __getattr__, __dir__ = facade(__name__)
