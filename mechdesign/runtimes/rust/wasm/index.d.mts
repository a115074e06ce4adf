import type { Tables } from "./tables.mjs";

/** There is no secure randomness, and so no report. */
export class NoRandomness extends Error {}
/** Overwrites all it is given with random bytes: for tests only. */
export type Fill = (bytes: Uint8Array) => void;
/** One of the labels, or where there are none a number or bytes. */
type Said<Labels, Code> = Labels extends readonly (infer Label)[] ? Label : Code;

export interface Sampler<
  Inputs extends readonly string[] | null,
  Outputs extends readonly string[] | null,
  Code extends number | Uint8Array,
> {
  readonly INPUT_LABELS: Inputs;
  readonly OUTPUT_LABELS: Outputs;
  /** A report for the input x: a RangeError if it is none. */
  sample(x: Said<Inputs, number>, fill?: Fill): Said<Outputs, Code>;
  /** The same in the numbers of the table's file. */
  sampleCode(x: number, fill?: Fill): Code;
  /**
   * The bytes that a collector reads, of a report that sample gave. It counts until the end (UTC) of the last day, in
   * days since 1970-01-01: Date.UTC(2099, 11, 31) / 86400000.
   */
  envelope(report: Said<Outputs, Code>, lastDay: number, fill?: Fill): Uint8Array;
}

/** All tables, by name. */
export function load(url?: URL): Promise<Tables>;
