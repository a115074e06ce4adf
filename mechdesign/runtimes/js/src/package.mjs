// What a package gives: its tables, the writers of their envelopes, and its device, under their names.

import { readDevice } from "./device.mjs";
import { envelopeWriter } from "./envelope.mjs";
import { readTable } from "./table.mjs";

/** The members of a package from its data: the manifest, and the texts of the tables and of the device file. */
export function openPackage({ manifest, tables, device }) {
  const members = Object.fromEntries(Object.entries(tables).map(([name, text]) => [name, readTable(text)]));
  const kept = manifest.device ?? null;
  const subjectOf = (name, number) => {
    if (manifest.collection) return { subject: "attribute", attribute: number, sha256: manifest.collection };
    if (name === (kept?.again ?? kept?.table)) return { subject: "device", sha256: kept.sha256 };
    return {};
  };
  const writers = Object.entries(members).map(([name, table], i) => [name, envelopeWriter(table, subjectOf(name, i))]);
  if (kept) members[`${kept.table}_device`] = readDevice(device, Object.values(members));
  return { ...members, envelopes: Object.freeze(Object.fromEntries(writers)) };
}
