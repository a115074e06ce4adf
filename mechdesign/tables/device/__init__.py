"""Memory and budget on a device: what is drawn once, what a period may spend, and what all of it loses together."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.tables.device.description import (
        Device as Device,
        device_among as device_among,
        load_device as load_device,
    )
    from mechdesign.tables.device.losses import (
        all_values_changed as all_values_changed,
        changes_bounded as changes_bounded,
        one_value_changed as one_value_changed,
    )
    from mechdesign.tables.device.machine import (
        InMemory as InMemory,
        Memory as Memory,
        Storage as Storage,
        created as created,
        known as known,
        reported as reported,
    )
    from mechdesign.tables.device.relations import Loss as Loss, losses_together as losses_together
    from mechdesign.tables.device.state import State as State
    from mechdesign.tables.device.storage import FileStorage as FileStorage
else:
    __getattr__, __dir__ = facade(__name__)
