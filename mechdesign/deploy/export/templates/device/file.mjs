// A state in a file, for Node: replaced at once, there to stay, and used by one process at a time.
//
// Node has no locks that end with a process: the file NAME.lock is made by the one that uses the state, and removed by
// close(). Where it was left by a process that was killed, every other one is refused (busy) until somebody removes it.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { StateRefused } from "./@device@.mjs";

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
      const handle = openSync(`${path}.new`, "w", 0o600);
      try {
        writeFileSync(handle, content);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
      renameSync(`${path}.new`, path);
      if (process.platform === "win32") return;
      const folder = openSync(dirname(path), "r"); // so that a power cut does not undo the rename
      try {
        fsyncSync(folder);
      } finally {
        closeSync(folder);
      }
    },
    close() {
      requireLock();
      isOpen = false;
      unlinkSync(lock);
    },
  };
}
