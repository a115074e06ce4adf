/* global TABLE_JSON -- the table's file, where a table is exported without a package */
import { readTable } from "../src/table.mjs";

export const { TABLE, INPUT_LABELS, OUTPUT_LABELS, REPORT_BYTES, sample, sampleCode } = readTable(TABLE_JSON);
