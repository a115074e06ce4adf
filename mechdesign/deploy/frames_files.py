"""Data files of reports as they are written, batch by batch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from mechdesign.data.columns import arrow
from mechdesign.errors import InvalidInput


@contextlib.contextmanager
def batch_writer(stream: BinaryIO, form: str, schema: Any) -> Iterator[Any]:
    """Takes Arrow batches of one schema to a stream; of the schema's metadata only Parquet keeps record."""
    pa = arrow()
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    try:
        writer = ParquetWriter(stream, schema, compression="zstd") if form == ".parquet" else CSVWriter(stream, schema)
    except pa.ArrowException as error:
        reason = str(error).partition("\n")[0]
        raise InvalidInput("keep", schema.names, f"name columns {form} files can hold: {reason}") from None
    try:
        yield writer
    except BaseException:
        with contextlib.suppress(Exception):  # what went wrong first is what matters
            writer.close()
        raise
    writer.close()
