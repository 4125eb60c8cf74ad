/** Scripts that are loaded when they are needed. */

/** A script or a style of a page, or of a part of one, did not come: without the network, or from a server that has another release by now. */
export class NotLoaded extends Error {
  constructor() {
    super("Its script could not be loaded: the server is unreachable, or was updated after this tab was opened. Check that it is running, then try again or reload the page.");
  }
}

/** Rejects with an error that says what to do. */
export async function loaded<T>(script: Promise<T>): Promise<T> {
  try {
    return await script;
  } catch {
    throw new NotLoaded();
  }
}
