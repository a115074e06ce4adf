// Envelopes: reports as the bytes that a collector reads, in the one form that FORMAT.md has for each.

import { bytesOf } from "./bits.mjs";
import { systemRandom } from "./randomness.mjs";

const HEAD = [0x6d, 0x64, 0x72, 0x65, 1]; // "mdre", version 1
const SUBJECTS = ["table", "attribute", "device"];
const NONCE = 44;
const BEGIN = 60;
const LAST_DAY = 2932896; // 9999-12-31

/**
 * Writes envelopes for reports that `sample` of this table gives: they are the table's, of a collection's attribute with
 * this number, or a device's. write(report, lastDay) is a Uint8Array that counts until the end (UTC) of a day, in days since
 * 1970-01-01: Date.UTC(2099, 11, 31) / 86400000. The nonce, by which an envelope counts once, is the system's, asked for
 * each; give `fill` in tests only. All envelopes have `size` bytes.
 */
export function envelopeWriter(table, { subject = "table", attribute = 0, sha256 = table.TABLE } = {}) {
  const places = table.OUTPUTS && new Map((table.OUTPUT_LABELS ?? table.OUTPUTS).map((output, i) => [output, i]));
  const size = BEGIN + (table.REPORT_BYTES || (places ? bytesOf(BigInt(places.size)) : 8));
  const begin = [...HEAD, SUBJECTS.indexOf(subject)];
  const hash = sha256.match(/../g).map((digits) => Number.parseInt(digits, 16));

  const write = (report, lastDay, fill = systemRandom) => {
    if (!(Number.isInteger(lastDay) && lastDay >= 0 && lastDay <= LAST_DAY)) {
      throw new RangeError("the last day must be a whole number of days since 1970-01-01, at most 2932896");
    }
    if (!isReport(report)) throw new RangeError("the report must be one that sample gives");
    const content = new Uint8Array(size);
    const view = new DataView(content.buffer);
    content.set(begin);
    view.setUint16(6, attribute, true);
    view.setUint32(8, lastDay, true);
    content.set(hash, 12);
    if (table.REPORT_BYTES) content.set(report, BEGIN);
    else if (places === null)
      view.setFloat64(BEGIN, report + 0, true); // minus zero is zero
    else for (let i = BEGIN; i < size; i++) content[i] = places.get(report) >> (8 * (i - BEGIN));
    fill(content.subarray(NONCE, BEGIN));
    return content;
  };
  const isReport = (report) => {
    if (table.REPORT_BYTES) return report instanceof Uint8Array && report.length === table.REPORT_BYTES;
    return places === null ? Number.isFinite(report) : places.has(report);
  };
  return Object.freeze(Object.assign(write, { size }));
}
