"""Memory and budget on a device: what is drawn once, what a period may spend, and what all of it loses together."""

from mechdesign.deploy.device.description import Device, load_device
from mechdesign.deploy.device.losses import all_values_changed, changes_bounded, one_value_changed
from mechdesign.deploy.device.machine import InMemory, Memory, Storage, created, known, reported
from mechdesign.deploy.device.relations import Loss, losses_together
from mechdesign.deploy.device.sources import LANGUAGES, device_difference, export_device
from mechdesign.deploy.device.state import State
from mechdesign.deploy.device.storage import FileStorage

__all__ = [
    "LANGUAGES",
    "Device",
    "FileStorage",
    "InMemory",
    "Loss",
    "Memory",
    "State",
    "Storage",
    "all_values_changed",
    "changes_bounded",
    "created",
    "device_difference",
    "export_device",
    "known",
    "load_device",
    "losses_together",
    "one_value_changed",
    "reported",
]
