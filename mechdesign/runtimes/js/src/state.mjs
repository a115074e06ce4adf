// The bytes of a device's state: FORMAT.md, "The bytes of a state".

/** The state does not allow what was asked: nothing was stored, and nothing is reported. */
export class StateRefused extends Error {
  name = "StateRefused";

  /** One of missing, damaged, other, rolled-back, past, ahead, exhausted, present, busy. */
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

export const MOST = 2 ** 31 - 1;
const MAGIC = [0x6d, 0x64, 0x73, 0x74, 0x61, 0x74, 0x65]; // "mdstate"
const ENTRIES = 56;
const SUM = 4;

/** How states are read and written of a device with this key, its hash. Entries are pairs of an input and what was drawn. */
export function stateFormat({ key, values, reports, table, outputs }) {
  const isItems = table.ITEMS > 0;
  const entry = isItems ? 4 + table.REPORT_BYTES : 16;
  const size = ENTRIES + entry * values + SUM;
  const start = [...MAGIC, isItems ? 2 : 1, ...key];

  const readEntry = (view, place) => {
    if (!isItems) return [view.getFloat64(place, true), view.getFloat64(place + 8, true)];
    return [view.getUint32(place, true), new Uint8Array(view.buffer.slice(place + 4, place + entry))];
  };
  const isEntry = ([x, y]) => {
    if (isItems) return x < table.ITEMS;
    return Number.isFinite(x) && Number.isFinite(y) && !Object.is(x, -0) && (outputs === null || outputs.includes(y));
  };

  const readState = (content, least) => {
    if (content === null || content === undefined || content.length === 0) throw new StateRefused("missing");
    const bytes = Uint8Array.from(content);
    const view = new DataView(bytes.buffer);
    const end = bytes.length - SUM;
    const isState = bytes.length >= ENTRIES + SUM && MAGIC.every((byte, i) => byte === bytes[i]);
    if (!isState || checksum(bytes.subarray(0, end)) !== view.getUint32(end, true)) throw new StateRefused("damaged");
    if (start.some((byte, i) => byte !== bytes[i])) throw new StateRefused("other");
    const [serial, period, made, held] = [40, 44, 48, 52].map((place) => view.getUint32(place, true));
    const isCounted = serial >= 1 && serial <= MOST && period <= MOST && made <= reports && held <= values;
    if (bytes.length !== size || !isCounted) throw new StateRefused("damaged");
    const entries = Array.from({ length: held }, (_, i) => readEntry(view, ENTRIES + entry * i));
    const isKept = entries.every(isEntry) && new Set(entries.map(([x]) => x)).size === held;
    if (!isKept || bytes.subarray(ENTRIES + entry * held, end).some((byte) => byte !== 0))
      throw new StateRefused("damaged");
    if (serial < least) throw new StateRefused("rolled-back");
    return { serial, period, made, entries };
  };

  const writeState = ({ serial, period, made, entries }) => {
    const bytes = new Uint8Array(size);
    const view = new DataView(bytes.buffer);
    bytes.set(start);
    [serial, period, made, entries.length].forEach((number, i) => view.setUint32(40 + 4 * i, number, true));
    entries.forEach(([x, y], i) => {
      const place = ENTRIES + entry * i;
      if (isItems) {
        view.setUint32(place, x, true);
        bytes.set(y, place + 4);
      } else {
        view.setFloat64(place, x, true);
        view.setFloat64(place + 8, y, true);
      }
    });
    view.setUint32(size - SUM, checksum(bytes.subarray(0, size - SUM)), true);
    return bytes;
  };

  return { readState, writeState };
}

// CRC-32, as in zip files.
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
