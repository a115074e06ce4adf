"""What every package holds: its manifest, its tables, a licence, and what to read first."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction

from mechdesign.tables.device.relations import losses_together
from mechdesign.tables.export.package import Kept, Package, Packaging
from mechdesign.tables.export.render import render, text
from mechdesign.tables.export.runtime import runtime, runtime_hash
from mechdesign.tables.export.words import comes_out, goes_in, takes
from mechdesign.values.digits import rounded_up

MANIFEST = "mechdesign-package.json"
TABLES = "tables"
COLLECTION = "collection.json"
DEVICE = "device.json"
_HEADING = re.compile(r"^## (\w+)\n", re.MULTILINE)
_SPENT_BY_A_DEVICE = "**What one person spends is what the reports of the device lose together: see below.**"


def common(package: Package, packaging: Packaging) -> dict[str, str]:
    """The files that do not depend on the language, but for what its guide says in the README."""
    texts = {
        MANIFEST: json.dumps(_manifest(package, packaging), indent=2) + "\n",
        "LICENSE": text("LICENSE"),
        "README.md": _readme(package, packaging),
        **{f"{TABLES}/{member.name}.json": member.json for member in package.members},
    }
    if package.collection is not None:
        texts[COLLECTION] = package.collection.content.decode()
    if package.device is not None:
        texts[DEVICE] = package.device.json
    return texts


def _manifest(package: Package, packaging: Packaging) -> dict[str, object]:
    said: dict[str, object] = {
        "format": "mechdesign package",
        "version": 2,
        "language": package.language,
        "name": package.name,
        "runtime": runtime_hash(packaging.carried(package).values()),
        "tables": {member.name: member.table.sha256 for member in package.members},
    }
    if package.collection is not None:
        said["collection"] = package.collection.sha256
    if package.device is not None:
        kept = package.device
        again = None if kept.again is None else kept.again.name
        said["device"] = {"file": DEVICE, "table": kept.once.name, "again": again, "sha256": kept.device.sha256}
    return said


def _readme(package: Package, packaging: Packaging) -> str:
    values = {"package": package, "member": package.members[0], "device": package.device, "example": example(package)}
    parts = _HEADING.split(runtime(packaging.guide))[1:]
    guide = {
        name: render(part.strip("\n"), **{**values, **packaging.places(package)})
        for name, part in zip(parts[::2], parts[1::2], strict=True)
        if package.device is not None or name not in ("device", "storage")
    }
    values |= {"guide": guide, "goes_in": goes_in, "comes_out": comes_out, "takes": takes}
    values |= {"spent": spent(package), "has_runtime": bool(packaging.carried(package))}
    if package.device is not None:
        values["about_device"] = _about(package.device, guide)
    return render(text("README.md"), **values)


def example(package: Package) -> str:
    """An input of the first table, as a literal that most languages share."""
    return json.dumps(package.members[0].first)


def _about(kept: Kept, guide: Mapping[str, str]) -> str:
    device = kept.device
    again = "" if kept.again is None else f", which `{kept.again.name}` randomises again in every report"
    return render(
        text("device.md"),
        device=kept.name,
        size=device.size,
        once=kept.once.name,
        values=device.values,
        again=again,
        reports=device.reports,
        sha=device.sha256,
        called=guide["device"],
        reporting=kept.reporting.name,
        forgets=device.forgets,
        losses="\n".join(f"| {loss.relation} | {loss.words} |" for loss in losses_together(device)),
        storage=guide["storage"],
    )


def spent(package: Package) -> str:
    """What one person spends who answers everything once, in words."""
    if package.device is not None:
        return _SPENT_BY_A_DEVICE
    if package.collection is not None:
        collection = package.collection
        return (
            f"Together they are the collection {json.dumps(collection.name)}, `{collection.sha256}`.\n"
            f"**Who answers it once spends epsilon {_epsilon(collection.epsilon)} in all.**"
        )
    total = sum((member.table.epsilon for member in package.members), Fraction(0))
    what = "the question" if len(package.members) == 1 else "every question"
    return f"**Who answers {what} once spends epsilon {_epsilon(total)} in all.**"


def _epsilon(epsilon: Fraction) -> str:
    """
    >>> _epsilon(Fraction(5, 2)), _epsilon(Fraction(1, 3))
    ('2.5', 'at most 0.333334')
    """
    near = f"{float(epsilon):.6g}"
    above = math.nextafter(float(epsilon), math.inf)
    return near if Fraction(near) == epsilon else f"at most {rounded_up(above, 6)}"
