// A state in a file, for Node: replaced at once, there to stay, and used by one process at a time.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { StateRefused } from "./state.mjs";

/**
 * Node has no locks that end with a process: the file PATH.lock is made by the one that uses the state, and removed by
 * close(). Where it was left by a process that was killed, every other one is refused (busy) until somebody removes it.
 */
export function fileStorage(path) {
  const lock = `${path}.lock`;
  try {
    closeSync(openSync(lock, "wx", 0o600));
  } catch (error) {
    throw error.code === "EEXIST" ? new StateRefused("busy") : error;
  }
  let isOpen = true;
  const requireLock = () => {
    if (!isOpen) throw new StateRefused("busy");
  };
  return {
    load() {
      requireLock();
      try {
        return new Uint8Array(readFileSync(path));
      } catch (error) {
        if (error.code === "ENOENT") return null;
        throw error;
      }
    },
    store(content) {
      requireLock();
      confirmed(`${path}.new`, "w", (file) => writeFileSync(file, content));
      renameSync(`${path}.new`, path);
      // so that a power cut does not undo the rename; Windows cannot open folders
      if (process.platform !== "win32") confirmed(dirname(path), "r", () => {});
    },
    close() {
      requireLock();
      isOpen = false;
      unlinkSync(lock);
    },
  };
}

function confirmed(path, flags, write) {
  const file = openSync(path, flags, 0o600);
  try {
    write(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
