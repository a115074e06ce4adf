// Envelopes for reports of the table with SHA-256
//
//     @sha@
//
// written by mechdesign: bytes that a collector reads (mechdesign collect-reports), in the one form that its file format
// has. The nonce, by which an envelope counts once, is the operating system's, asked for each envelope.

// @if labels
import { NoRandomness, OUTPUT_LABELS } from "./@module@.mjs";
// @else
import { NoRandomness } from "./@module@.mjs";
// @end

// the letters mdre, version 1, and of what the hash is: of @of@
const HEAD = [@head@];
const HASH = "@hash@";
const LAST_DAY = 2932896; // 9999-12-31
const BEGIN = 60;
const SIZE = @size@;
// @if texts
const OUTPUT_LABELS = [
@output_texts@,
];
// @end
// @if listed
@OUTPUTS@
// @end

// The envelope, a Uint8Array, of a report that sample gave. It counts until the end (UTC) of the day `lastDay`, in days
// since 1970-01-01: Date.UTC(2099, 11, 31) / 86400000. A RangeError if either cannot be. fill(bytes) overwrites a
// Uint8Array with random bytes; replace it in tests only.
export function envelope(report, lastDay, fill = osRandom) {
  if (!(Number.isInteger(lastDay) && lastDay >= 0 && lastDay <= LAST_DAY)) {
    throw new RangeError("the last day must be a whole number of days since 1970-01-01, at most 2932896");
  }
  const content = new Uint8Array(BEGIN + SIZE);
  const numbers = new DataView(content.buffer);
// @if labels texts listed
// @if listed
  const place = OUTPUTS.indexOf(report);
// @else
  const place = OUTPUT_LABELS.indexOf(report);
// @end
  if (place < 0) throw new RangeError("the report must be one that sample gives");
  for (let i = 0; i < SIZE; i++) content[BEGIN + i] = (place >> (8 * i)) & 255;
// @end
// @if double
  if (!Number.isFinite(report)) throw new RangeError("the report must be one that sample gives");
  numbers.setFloat64(BEGIN, report + 0, true);
// @end
// @if bytes
  if (!(report instanceof Uint8Array && report.length === SIZE)) {
    throw new RangeError("the report must be one that sample gives");
  }
  content.set(report, BEGIN);
// @end
  content.set(HEAD);
  numbers.setUint32(8, lastDay, true);
  for (let i = 0; i < 32; i++) content[12 + i] = parseInt(HASH.slice(2 * i, 2 * i + 2), 16);
  fill(content.subarray(44, BEGIN));
  return content;
}

// @include randomness/system.mjs
