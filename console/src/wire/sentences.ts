/** A text of the server as a sentence of its own: what begins with a name, or ends with a mark, stays as it is. */
export function sentence(text: string): string {
  const said = text.trim();
  if (said === "") return "";
  const begun = /^[a-z]+[ ,]/.test(said) ? `${said.slice(0, 1).toUpperCase()}${said.slice(1)}` : said;
  return /[.!?:;…]["')]?$/.test(begun) ? begun : `${begun}.`;
}
