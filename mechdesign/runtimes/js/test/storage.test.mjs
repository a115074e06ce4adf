// Storages: a file, the local storage of a browser, and its database.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { webStorage, withState } from "../src/browser.mjs";
import { fileStorage } from "../src/file.mjs";
import { StateRefused } from "../src/state.mjs";
import { devices } from "./shared.mjs";

const device = devices.get("window_device");

function inFolder(call) {
  const folder = mkdtempSync(join(tmpdir(), "device-"));
  try {
    return call(join(folder, "state"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a state in a file is created, spent, counted and used by one", () => {
  inFolder((path) => {
    const storage = fileStorage(path);
    assert.throws(() => device.report(storage, 0.5, 20), { name: "StateRefused", reason: "missing" });
    device.create(storage, 20, 1);
    assert.throws(() => device.create(storage, 20), { reason: "present" });
    assert.equal(typeof device.report(storage, 0.5, 20), "number");
    assert.throws(() => device.report(storage, 0.5, 20), { reason: "exhausted" });
    assert.throws(() => fileStorage(path), StateRefused);
    storage.close();
    for (const call of ["load", "store", "close"]) assert.throws(() => storage[call](), { reason: "busy" });
    const again = fileStorage(path);
    assert.equal(device.serial(again), 2);
    assert.throws(() => device.serial(again, 3), { reason: "rolled-back" });
    again.close();
    assert.ok(!existsSync(`${path}.lock`) && !existsSync(`${path}.new`));
  });
});

test("a file is its user's, and replaced whole", { skip: process.platform === "win32" }, () => {
  inFolder((path) => {
    const storage = fileStorage(path);
    writeFileSync(`${path}.new`, "what a crash left, and longer than a state".repeat(99), { mode: 0o600 });
    device.create(storage, 20, 1);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(readFileSync(path).length, storage.load().length);
    assert.equal(device.serial(storage), 1);
    storage.close();
  });
});

test("a state that cannot be stored is no report", () => {
  inFolder((path) => {
    const storage = fileStorage(path);
    device.create(storage, 20, 1);
    const full = {
      load: storage.load,
      store() {
        throw new Error("no room");
      },
    };
    assert.throws(() => device.report(full, 0.5, 20), /no room/);
    assert.equal(device.serial(storage), 1);
    storage.close();
  });
});

test("numbers that are no periods, allowances or serials are refused", () => {
  const storage = { load: () => null, store: assert.fail };
  for (const period of [-1, 2 ** 31]) assert.throws(() => device.create(storage, period), RangeError);
  assert.throws(() => device.create(storage, 1, device.REPORTS + 1), RangeError);
  assert.throws(() => device.create(storage, 1, 0, 2 ** 31 - 1), RangeError);
  assert.throws(() => device.serial(storage, -1), RangeError);
  for (const period of [0.5, NaN, "20", undefined]) {
    assert.throws(() => device.create(storage, period), TypeError);
    assert.throws(() => device.report(storage, 0.5, period), TypeError);
  }
});

test("a state in local storage is one or none", () => {
  const held = new Map();
  const place = { getItem: (key) => held.get(key) ?? null, setItem: (key, content) => held.set(key, content) };
  const storage = webStorage("state", place);
  assert.throws(() => device.serial(storage), { reason: "missing" });
  device.create(storage, 20, 1);
  device.report(storage, 0.5, 20);
  assert.equal(device.serial(storage), 2);
  for (const content of ["none", "", "0", held.get("state").slice(2)]) {
    held.set("state", content);
    assert.throws(() => device.serial(storage), { reason: "damaged" });
  }
});

// A database and locks as browsers have them, with what is stored where, and whether it may be.
function browser({ aborts = false } = {}) {
  const databases = new Map();
  const request = (result) => {
    const asked = { result };
    setImmediate(() => (asked.onupgradeneeded?.(), asked.onsuccess()));
    return asked;
  };
  const indexedDB = {
    open(name) {
      if (!databases.has(name)) databases.set(name, new Map());
      const kept = databases.get(name);
      const transaction = (store, mode, options) => {
        const said = { objectStore: () => ({ get: () => request(kept.get(0)), put }) };
        const put = (content) => {
          assert.deepEqual([mode, options], ["readwrite", { durability: "strict" }]);
          setImmediate(() => (aborts ? said.onabort() : said.oncomplete(kept.set(0, content))));
        };
        return said;
      };
      return request({ createObjectStore() {}, close() {}, transaction });
    },
  };
  let last = Promise.resolve();
  const locks = { request: (name, call) => (last = last.then(call, call)) };
  return { databases, globals: { indexedDB, navigator: { locks } } };
}

async function inBrowser({ globals }, call) {
  const before = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true });
  }
  try {
    return await call();
  } finally {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) delete globalThis[name];
      else Object.defineProperty(globalThis, name, descriptor);
    }
  }
}

test("pages that ask at once make no more reports than a period has", async () => {
  const page = browser();
  await inBrowser(page, async () => {
    await withState((storage) => device.create(storage, 20, 2), "state");
    const asked = Array.from({ length: 5 }, () => withState((storage) => device.report(storage, 0.5, 20), "state"));
    const said = (await Promise.allSettled(asked)).map((one) => one.reason?.reason ?? typeof one.value);
    assert.deepEqual(said, ["number", "number", "exhausted", "exhausted", "exhausted"]);
    assert.equal(await withState((storage) => device.serial(storage), "state"), 3);
    await assert.rejects(
      withState((storage) => device.serial(storage), "another"),
      { reason: "missing" },
    );
  });
});

test("what fails stores nothing, and what is not stored is no report", async () => {
  const page = browser();
  await inBrowser(page, async () => {
    const failing = withState((storage) => {
      device.create(storage, 20, 1);
      throw new Error("no");
    }, "state");
    await assert.rejects(failing, /no/);
    assert.equal(page.databases.get("state").size, 0);
    page.databases.get("state").set(0, "no bytes");
    await assert.rejects(
      withState((storage) => device.serial(storage), "state"),
      { reason: "damaged" },
    );
  });
  await inBrowser(browser({ aborts: true }), async () => {
    await assert.rejects(
      withState((storage) => device.create(storage, 20, 1), "state"),
      /not stored/,
    );
  });
});

test("a call that goes on after it returned is refused: it stores no more, and what it drew before is counted", async () => {
  await inBrowser(browser(), async () => {
    await withState((storage) => device.create(storage, 20, 2), "state");
    const early = withState(async (storage) => device.report(storage, 0.5, 20), "state");
    await assert.rejects(early, TypeError);
    let late;
    const waits = withState(
      (storage) => (late = Promise.resolve().then(() => device.report(storage, 0.5, 20))),
      "state",
    );
    await assert.rejects(waits, TypeError);
    await assert.rejects(late, { reason: "busy" });
    assert.equal(await withState((storage) => device.serial(storage), "state"), 2);
  });
});

test("without locks or a database there is an error", async () => {
  await assert.rejects(
    withState(() => 1, "state"),
    /https/,
  );
});
