// What a package gives: its tables, the writers of their envelopes, and its device, under their names.

import { envelopeWriter } from "./envelope.mjs";
import { readTable } from "./table.mjs";

/**
 * The members of a package: `tables` and `device.text` are the texts of files, `collection` a hash, if it is of one. Where
 * there is a device it is read by readDevice of device.mjs, which no other package has.
 */
export function openPackage({ tables, collection, device }, readDevice) {
  const members = Object.fromEntries(Object.entries(tables).map(([name, text]) => [name, readTable(text)]));
  const subjectOf = (name, attribute) => {
    if (collection !== null) return { subject: "attribute", attribute, sha256: collection };
    return name === device?.reporting ? { subject: "device", sha256: device.sha256 } : {};
  };
  const writers = Object.entries(members).map(([name, table], i) => [name, envelopeWriter(table, subjectOf(name, i))]);
  if (device !== null) members[device.name] = readDevice(device.text, Object.values(members));
  return { ...members, envelopes: Object.freeze(Object.fromEntries(writers)) };
}
