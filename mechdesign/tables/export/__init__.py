"""Tables in other languages: runtimes as they stand, in packages or one file, and vectors they reproduce."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.tables.export.difference import (
        PackageDifference as PackageDifference,
        package_difference as package_difference,
    )
    from mechdesign.tables.export.folder import export_package as export_package
    from mechdesign.tables.export.registry import LANGUAGES as LANGUAGES, PACKAGED as PACKAGED
    from mechdesign.tables.export.single import (
        Difference as Difference,
        export_table as export_table,
        source_difference as source_difference,
    )
else:
    __getattr__, __dir__ = facade(__name__)
