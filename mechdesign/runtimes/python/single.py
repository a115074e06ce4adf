# Below the runtime and TABLE_JSON, the table's file, where a table is exported without a package.

TABLE = Table.read(TABLE_JSON)
INPUT_LABELS, OUTPUT_LABELS = TABLE.input_labels, TABLE.output_labels
sample, sample_code, envelope = TABLE.sample, TABLE.sample_code, TABLE.envelope
