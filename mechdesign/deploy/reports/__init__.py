"""Reports on their way from devices to an estimate: collections of tables, envelopes, the collector, and signatures."""

from mechdesign.deploy.reports.collection import Attribute, Collection, Spending, load_collection
from mechdesign.deploy.reports.collector import Batch, Collector, Intake, Question, Refused
from mechdesign.deploy.reports.envelope import Envelope, Subject, enveloped
from mechdesign.deploy.reports.merging import merged_estimate
from mechdesign.deploy.reports.payload import payload_of
from mechdesign.deploy.reports.shares import Added, bits_of, opened, split
from mechdesign.deploy.reports.signing import BadSignature, Signed, new_key, sign, verify
from mechdesign.deploy.reports.store import Store

__all__ = [
    "Added",
    "Attribute",
    "BadSignature",
    "Batch",
    "Collection",
    "Collector",
    "Envelope",
    "Intake",
    "Question",
    "Refused",
    "Signed",
    "Spending",
    "Store",
    "Subject",
    "bits_of",
    "enveloped",
    "load_collection",
    "merged_estimate",
    "new_key",
    "opened",
    "payload_of",
    "sign",
    "split",
    "verify",
]
