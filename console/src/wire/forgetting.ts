/** What a browser keeps of a person's work is removed when they sign out: the next person at this machine does not see it. */
const SETTINGS: ReadonlySet<string> = new Set(["stepless.theme", "stepless.parameters"]); // of the browser, not of a person
const OURS = "stepless";
const here: { indexedDB?: IDBFactory } = globalThis; // a browser may lack it

/** Removes typed inputs, unsent edits and what tabs remember. Edits that the server has are not touched. */
export async function forgetTyped(local: Storage = localStorage, tab: Storage = sessionStorage, databases = here.indexedDB): Promise<void> {
  for (const storage of [local, tab]) {
    const names = Array.from({ length: storage.length }, (_, place) => storage.key(place) ?? "");
    for (const name of names) if (name.startsWith(OURS) && !SETTINGS.has(name)) storage.removeItem(name);
  }
  if (databases === undefined) return;
  const kept = (await databases.databases()).map(({ name = "" }) => name);
  await Promise.all(kept.filter((name) => name.startsWith(OURS)).map((name) => removed(databases, name)));
}

/** A database that another tab has open is removed once that tab is closed. */
function removed(databases: IDBFactory, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const removing = databases.deleteDatabase(name);
    removing.onsuccess = removing.onblocked = () => { resolve(); };
    removing.onerror = () => { reject(removing.error ?? new Error("IndexedDB failed")); };
  });
}
