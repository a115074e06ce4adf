// Storages of a browser for the state of a device.

const STORE = "states";

/**
 * What call(storage) gives, with a state in the database of the site (IndexedDB): withState((storage) =>
 * device.report(storage, x, period), name). All pages of the site wait for each other (navigator.locks). What was stored is
 * written in one transaction of strict durability, and only then the answer is given: a crash before that leaves the state
 * as it was, and what was drawn was seen by nobody. So call must give its report as its answer, and to nobody else.
 */
export async function withState(call, name) {
  const { indexedDB, navigator } = globalThis;
  if (!navigator?.locks || !indexedDB) {
    throw new Error("no locks or no database here: pages need a secure address (https), and the browser's storage");
  }
  return navigator.locks.request(name, async () => {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const database = await finished(opening);
    try {
      const kept = await finished(database.transaction(STORE).objectStore(STORE).get(0));
      let content = kept === undefined ? null : kept instanceof Uint8Array ? kept : new Uint8Array(1); // damaged
      let isNew = false;
      const storage = {
        load: () => content,
        store: (bytes) => {
          content = Uint8Array.from(bytes);
          isNew = true;
        },
      };
      const answer = await call(storage);
      if (isNew) await stored(database, content);
      return answer;
    } finally {
      database.close();
    }
  });
}

function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function stored(database, content) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the state was not stored"));
    transaction.objectStore(STORE).put(content, 0);
  });
}

/**
 * A state in the local storage of a browser: weaker than withState. A page sees one state or the other and never half of
 * one; but no page waits for another, and the browser writes to the disk when it likes, so that a crash within seconds can
 * bring an older state back, which only `least` notices.
 */
export function webStorage(key, place = globalThis.localStorage) {
  return {
    load() {
      const text = place.getItem(key);
      if (text === null) return null;
      if (!/^([0-9a-f]{2})+$/.test(text)) return new Uint8Array(1); // damaged
      return Uint8Array.from(text.match(/../g), (digits) => Number.parseInt(digits, 16));
    },
    store(bytes) {
      place.setItem(key, Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
    },
  };
}
