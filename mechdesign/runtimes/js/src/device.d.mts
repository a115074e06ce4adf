import type { Fill, Table } from "./index.mjs";

/** load() gives the bytes stored last, or null; store(content) returns once they are there to stay. */
export interface Storage {
  load(): Uint8Array | null;
  store(content: Uint8Array): void;
}

/** A device that takes X, or numbers of the file, and reports Z, or codes Y. */
export interface Device<X = number | string, Z = number | string | Uint8Array, Y = number | Uint8Array> {
  /** The hash of the device file. */
  readonly DEVICE: string;
  /** For how many values it remembers what was drawn, and how many reports it makes in a period. */
  readonly VALUES: number;
  readonly REPORTS: number;
  /** Begins without memory where there is no state to keep, with so many reports left in the period: what the server
   * grants. Without its word the period is spent, as nobody knows what was reported before a state was lost. `least` is the
   * last serial known from elsewhere. A state that is there keeps its memory, and goes on to a period that is too far ahead
   * for a report: on the word of another clock than the device's. */
  create(storage: Storage, period: number, allowance?: number, least?: number): void;
  /** One report for the value held now, given after the state that counts it was stored. */
  report(storage: Storage, x: X, period: number, least?: number, fill?: Fill): Z;
  /** The same in codes, the numbers of the files. */
  reportCode(storage: Storage, x: number, period: number, least?: number, fill?: Fill): Y;
  /** How many states were stored so far: keep it outside the storage, and give it as `least` next time. */
  serial(storage: Storage, least?: number): number;
}

/** The device of a file that draws from two of these tables, or from one. */
export function readDevice(content: string | Uint8Array, tables: readonly Table<any, any, any>[]): Device;
