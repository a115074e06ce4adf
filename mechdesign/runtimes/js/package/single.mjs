/* global TABLE_JSON -- the table's file, where a table is exported without a package */
import { envelopeWriter } from "../src/envelope.mjs";
import { readTable } from "../src/table.mjs";

const only = readTable(TABLE_JSON);
export const { TABLE, INPUT_LABELS, OUTPUT_LABELS, REPORT_BYTES, sample, sampleCode } = only;
export const envelope = envelopeWriter(only);
