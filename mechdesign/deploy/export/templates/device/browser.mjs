// A state in the database of a page (IndexedDB): there to stay, and used by one page or worker of the site at a time.
//
// Beside it webStorage() is simpler and weaker: localStorage shows one state or the other and never half of one, but a
// browser writes it to the disk when it likes, and no page waits for another.
const PLACE = "states";

// What call(storage) gives: withState((storage) => report(storage, x, period)). All pages of the site wait for each
// other (navigator.locks). What the storage was given is written in one transaction of strict durability, and only then
// the answer is given: a crash before that leaves the state as it was, and what was drawn was seen by nobody. So call
// must give its report as its answer, and to nobody else.
export async function withState(call, name = "@device@") {
  if (!globalThis.navigator?.locks || !globalThis.indexedDB) {
    throw new Error("no locks or no database here: pages need a secure address (https), and the browser's storage");
  }
  return globalThis.navigator.locks.request(name, async () => {
    const database = await opened(name);
    try {
      const kept = await finished(database.transaction(PLACE).objectStore(PLACE).get(0));
      let content = kept === undefined ? null : kept instanceof Uint8Array ? kept : new Uint8Array(1);
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

function opened(name) {
  const request = globalThis.indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(PLACE);
  return finished(request);
}

function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function stored(database, content) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(PLACE, "readwrite", { durability: "strict" });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the state was not stored"));
    transaction.objectStore(PLACE).put(content, 0);
  });
}
