/** The parts of an expression, or of a text with references and `{{ … }}`, that are drawn in colours. A half-typed one has them too. */
export type Mark = "reference" | "secret" | "brace" | "text" | "number" | "word" | "call";

export interface Token {
  readonly from: number;
  readonly to: number;
  readonly mark: Mark;
}

const REFERENCE = /<[A-Za-z_][\w-]*(?:\.[\w-]+|\[-?\d+\])*!?>/y;
const SECRET = /\$\{[A-Za-z_]\w*\}/y;
const TEXT = /'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?/y;
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_]\w*/y;
const WORDS: ReadonlySet<string> = new Set(["and", "or", "not", "in", "if", "else", "true", "false", "null", "True", "False", "None"]);

export function tokens(source: string, isExpression: boolean): Token[] {
  const made: Token[] = [];
  let inside = isExpression;
  for (let at = 0; at < source.length;) {
    const token = next(source, at, inside, isExpression);
    if (token === null) {
      at += 1;
      continue;
    }
    if (token.mark === "brace") inside = source.startsWith("{{", at);
    if (token.to > token.from && (token.mark !== "word" || WORDS.has(source.slice(token.from, token.to)))) made.push(token);
    at = token.to;
  }
  return made;
}

function next(source: string, at: number, inside: boolean, isExpression: boolean): Token | null {
  const found = (pattern: RegExp, mark: Mark): Token | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    return match === null ? null : { from: at, to: at + match[0].length, mark };
  };
  const letter = source[at];
  if (letter === "<") return found(REFERENCE, "reference");
  if (letter === "$") return found(SECRET, "secret");
  if (!isExpression && (source.startsWith("{{", at) && !inside || source.startsWith("}}", at) && inside)) return { from: at, to: at + 2, mark: "brace" };
  if (!inside) return null;
  const name = found(NAME, "word");
  if (name !== null) return /^\s*\(/.test(source.slice(name.to, name.to + 8)) && !WORDS.has(source.slice(at, name.to)) ? { ...name, mark: "call" } : name;
  return found(TEXT, "text") ?? found(NUMBER, "number");
}

/** Whether a place is where an expression is written, and not inside of a quoted text. */
export function isFormula(source: string, at: number, isExpression: boolean): boolean {
  const start = isExpression ? 0 : source.lastIndexOf("{{", at - 1) + 2;
  if (!isExpression && (start < 2 || source.slice(start, at).includes("}}"))) return false;
  return !tokens(source.slice(start, at), true).some((token) => token.mark === "text" && token.to === at - start && !isClosed(source.slice(start + token.from, at)));
}

function isClosed(text: string): boolean {
  return text.length > 1 && text.endsWith(text.charAt(0)) && !text.endsWith(`\\${text.charAt(0)}`);
}
