// The shared tables and devices of all runtimes.
import { readFileSync, readdirSync } from "node:fs";
import { readDevice } from "../src/device.mjs";
import { readTable } from "../src/index.mjs";

const FOLDER = new URL("../../vectors/", import.meta.url);
const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json") && name !== "collection.json")
  .map((name) => name.slice(0, -5));

export const text = (name) => readFileSync(new URL(name, FOLDER), "utf8");
export const tables = new Map(
  names.filter((name) => !name.endsWith("_device")).map((name) => [name, readTable(text(`${name}.json`))]),
);
export const devices = new Map(
  names
    .filter((name) => name.endsWith("_device"))
    .map((name) => [name, readDevice(text(`${name}.json`), [...tables.values()])]),
);
