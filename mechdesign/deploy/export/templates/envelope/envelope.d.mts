// @if standalone
import type { @Name@, Fill } from "./index.mjs";

/** The bytes that a collector reads, of a report that sample gave: a RangeError if it is none, or lastDay no day. */
export function envelope(report: ReturnType<@Name@["sample"]>, lastDay: number, fill?: Fill): Uint8Array;
// @else
import type { Fill, Output } from "./@stem@.mjs";

/**
 * The bytes that a collector reads, of a report that sample gave. It counts until the end (UTC) of the day lastDay, in
 * days since 1970-01-01. A RangeError if either cannot be.
 */
export function envelope(report: Output, lastDay: number, fill?: Fill): Uint8Array;
// @end
