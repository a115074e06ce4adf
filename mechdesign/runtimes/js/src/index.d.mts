/** There is no secure randomness, and so no report. */
export class NoRandomness extends Error {}

/** The file is none that reports can be drawn from. */
export class FileRefused extends Error {}

/** Overwrites all it is given with random bytes: for tests only. */
export type Fill = (bytes: Uint8Array) => void;

/** The labels of one side of a table, in their order, or null where data are numbers. */
export type Labels = readonly string[] | null;

/** One of the labels; where there are none, what the table has in their place. */
export type Of<L extends Labels, Code> = L extends readonly (infer Label)[] ? Label : Code;

/** A table with labels I of its inputs and O of its outputs, whose reports without labels are of type Y. */
export interface Table<I extends Labels = Labels, O extends Labels = Labels, Y = number | Uint8Array> {
  /** The table's hash. */
  readonly TABLE: string;
  /** Inputs lie between these, as numbers of the file. */
  readonly LOWER: number;
  readonly UPPER: number;
  /** The inputs, where they are listed numbers. */
  readonly POINTS: readonly number[] | null;
  /** How many items there are, where inputs are whole numbers from 0 and reports are bytes, else 0. */
  readonly ITEMS: number;
  /** The outputs, where they are listed numbers. */
  readonly OUTPUTS: readonly number[] | null;
  readonly INPUT_LABELS: I;
  readonly OUTPUT_LABELS: O;
  /** How long reports are, where they are bytes, else 0. */
  readonly REPORT_BYTES: number;
  /** How many random bytes a report takes, whatever the input. */
  readonly RANDOM_BYTES: number;
  /** A report for the input x: a RangeError or a TypeError if it is none. */
  sample(x: Of<I, number>, fill?: Fill): Of<O, Y>;
  /** The same in codes, the numbers of the file. */
  sampleCode(x: number, fill?: Fill): Y;
  /** Whether a number of the file is an input. */
  isInput(x: number): boolean;
  /** The number of an input, and the label of an output. */
  inputCode(x: Of<I, number>): number;
  outputLabel(y: Y): Of<O, Y>;
}

/** What goes into a table, and what comes out. */
export type Input<T> = T extends { sample(x: infer X, fill?: Fill): unknown } ? X : never;
export type Output<T> = T extends { sample(x: never, fill?: Fill): infer Y } ? Y : never;

/** The table of a file, given as its text or its bytes; a FileRefused if it is none to draw from. */
export function readTable<I extends Labels = Labels, O extends Labels = Labels, Y = number | Uint8Array>(
  content: string | Uint8Array,
): Table<I, O, Y>;

/** What reports are of, where it is not their table. */
export type Subject =
  | { subject: "table" }
  | { subject: "attribute"; attribute: number; sha256: string }
  | { subject: "device"; sha256: string };

export interface Writer<Report> {
  /**
   * The bytes that a collector reads, of a report that sample gave. They count until the end (UTC) of the day lastDay, in
   * days since 1970-01-01. A RangeError if either cannot be; of bytes only the length is checked.
   */
  (report: Report, lastDay: number, fill?: Fill): Uint8Array;
  /** How long envelopes are. */
  readonly size: number;
}

/** A RangeError for what can be no subject. */
export function envelopeWriter<T extends Table>(table: T, subject?: Subject): Writer<Output<T>>;
