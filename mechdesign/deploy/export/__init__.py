"""Samplers of a table in other languages: sources without dependencies or packages, and vectors they reproduce."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.deploy.export.languages import (
        LANGUAGES as LANGUAGES,
        Difference as Difference,
        export_table as export_table,
        source_difference as source_difference,
    )
    from mechdesign.deploy.export.packages import (
        PACKAGED as PACKAGED,
        PackageDifference as PackageDifference,
        export_package as export_package,
        package_difference as package_difference,
    )
else:
    __getattr__, __dir__ = facade(__name__)
