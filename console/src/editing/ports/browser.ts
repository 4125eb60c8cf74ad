/** The ports of a session in a browser: IndexedDB, Web Locks, the session's storage, and its clock. */
import type { Chance, Clock, Locks, Rows, Tab } from "../client/ports.ts";
import { DIGITS } from "../values/orders.ts";

const STORE = "rows";
const WORD_LENGTH = 10;
const CLIENT = "stepless.client";

/** What a browser may lack. */
const here: { indexedDB?: IDBFactory; navigator?: { locks?: LockManager } } = globalThis;

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => { resolve(request.result); };
    request.onerror = () => { reject(request.error ?? new Error("IndexedDB failed")); };
  });
}

/** The rows of a database; null where the browser keeps none, as in some private windows. */
export async function openRows(name: string, factory: IDBFactory | undefined = here.indexedDB): Promise<Rows | null> {
  if (factory === undefined) return null;
  const opening = factory.open(name, 1);
  opening.onupgradeneeded = () => { opening.result.createObjectStore(STORE); };
  const database = await done(opening).catch(() => null);
  return database === null ? null : rowsOf(database);
}

function rowsOf(database: IDBDatabase): Rows {
  return {
    read: async (prefix) => {
      const store = database.transaction(STORE, "readonly").objectStore(STORE);
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      const [keys, texts] = await Promise.all([done(store.getAllKeys(range)), done(store.getAll(range) as IDBRequest<string[]>)]);
      return keys.flatMap((key, place): [string, string][] => (typeof key === "string" ? [[key, texts[place] ?? ""]] : []));
    },
    write: (changes) => new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, "readwrite");
      const store = transaction.objectStore(STORE);
      for (const [key, text] of changes) {
        if (text === null) store.delete(key);
        else store.put(text, key);
      }
      transaction.oncomplete = () => { resolve(); };
      transaction.onabort = () => { reject(transaction.error ?? new Error("IndexedDB failed")); };
    }),
  };
}

/** The locks of the tabs of one browser; null without a secure context. */
export function browserLocks(manager: LockManager | undefined = here.navigator?.locks): Locks | null {
  if (manager === undefined) return null;
  return {
    hold: (name) => new Promise((resolve, reject) => {
      manager.request(name, { ifAvailable: true }, async (lock) => {
        if (lock === null) {
          resolve(null);
          return;
        }
        await new Promise<void>((release) => { resolve(release); });
      }).catch(reject);
    }),
  };
}

export const browserClock: Clock = {
  now: () => performance.timeOrigin + performance.now(), // compared across reloads, and it never runs backwards
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => { clearTimeout(timer); };
  },
};

export const browserChance: Chance = {
  fraction: () => Math.random(),
  word: () => {
    let made = "";
    while (made.length < WORD_LENGTH) {
      for (const byte of crypto.getRandomValues(new Uint8Array(WORD_LENGTH))) {
        if (byte < 248 && made.length < WORD_LENGTH) made += DIGITS.charAt(byte % DIGITS.length); // 4 x 62: each letter as often
      }
    }
    return made;
  },
};

/** What this tab remembers of a draft: a reload keeps it, and a copied tab has it too. */
export function browserTab(draft: string, storage: Storage = sessionStorage): Tab {
  const key = `${CLIENT}/${draft}`;
  return { recall: () => storage.getItem(key), remember: (client) => { storage.setItem(key, client); } };
}
