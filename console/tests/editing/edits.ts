/** Operations as people make them, drawn at random over what a person sees. */
import type { Entity, Write } from "../../src/editing/log/effects.ts";
import { operation, type Operation } from "../../src/editing/log/operations.ts";
import { between } from "../../src/editing/values/orders.ts";
import { childrenOf, prefixOf, tailOf, type State } from "../../src/editing/state.ts";
import { EMPTY, object, points, slicePoints, textAt, texts, type Json, type Path } from "../../src/editing/values/values.ts";
import type { Dice } from "../dice.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const NAMES = ["order", "score", "pay", "alert", "triage", "ship"];
const NO_TEXT = ["id", "type", "parent", "order", "after"];

export function word(dice: Dice): string {
  return Array.from({ length: 10 }, () => DIGITS.charAt(dice.below(62))).join("");
}

export function entity(fields: Record<string, Json>): Entity {
  return object(Object.entries(fields));
}

interface Drawn {
  readonly asked: Operation;
  readonly typed: boolean;
}

/** Draws operations for one person. Its letters are characters that only this person types, each once. */
export class Editor {
  constructor(private readonly dice: Dice, private letter: number) {}

  operation(view: State): Drawn | null {
    const blocks = [...view.keys()].filter((key) => prefixOf(key) === "block").sort();
    const draw = this.dice.below(100);
    if (blocks.length === 0 || draw < 12) return structure(this.add(view, blocks));
    if (draw < 42) return this.typing(view, blocks);
    const key = this.dice.one(blocks);
    const drawn = this.drawn(draw, view, key, blocks);
    return drawn === null ? null : structure(drawn);
  }

  private drawn(draw: number, view: State, key: string, blocks: string[]): Write[] | null {
    const edges = [...view.keys()].filter((one) => prefixOf(one) === "edge").sort();
    if (draw < 50) return [["del", key]];
    if (draw < 58) return [["rename", key, this.dice.one([...NAMES, `n${this.dice.below(30)}`])]];
    if (draw < 66) return [["set", key, ["parent"], this.dice.one(bodies(view, blocks))]];
    if (draw < 78) return [["put", `edge/${word(this.dice)}`, this.edge(tailOf(key), tailOf(this.dice.one(blocks)))]];
    if (draw < 82) return edges.length === 0 ? null : [["del", this.dice.one(edges)]];
    if (draw < 90) return [this.value(key)];
    if (draw < 96) return this.drag(view, tailOf(key));
    return [["put", `pin/${tailOf(key)}`, entity({ output: this.dice.below(9) })]];
  }

  letters(count: number): string {
    return Array.from({ length: count }, () => String.fromCodePoint(this.letter++)).join("");
  }

  private add(view: State, blocks: string[]): Write[] {
    const key = word(this.dice);
    const name = this.dice.one(NAMES);
    const parent = this.dice.one(bodies(view, blocks));
    const orders = view.found(childrenOf(parent)).map((one) => textAt(view.get(one) ?? EMPTY, "order")).sort();
    const isLoop = this.dice.below(4) === 0;
    const writes: Write[] = [["put", `block/${key}`, entity({
      id: name, type: isLoop ? "loop" : "http", parent, order: between(orders.at(-1) ?? null, null),
      with: entity({ url: "https://a.example", prompt: `<${this.dice.one(NAMES)}.body> and <${name}.x>` }),
    })]];
    if (isLoop) writes.push(["put", `subflow/${key}`, entity({ times: "3" })]);
    const others = blocks.filter((one) => (view.get(one)?.get("parent") ?? null) === parent);
    if (others.length > 0 && this.dice.below(2) === 0) writes.push(["put", `edge/${word(this.dice)}`, this.edge(tailOf(this.dice.one(others)), key)]);
    return writes;
  }

  private edge(source: string, target: string): Entity {
    return entity({ source, target, order: this.dice.one(["G", "V", "k"]), handle: this.dice.one(["source", "error", "big"]) });
  }

  private value(key: string): Write {
    const path = this.dice.one<Path>([["with", "url"], ["enabled"], ["with", "headers", "a"], ["with", "headers"], ["retry", "x"]]);
    if (this.dice.below(4) === 0) return ["unset", key, path];
    return ["set", key, path, this.dice.one<Json>([1, true, "text", entity({ a: 1, b: "<order.x>" }), null]), this.dice.one([null, "url", "type"])];
  }

  private drag(view: State, tail: string): Write[] {
    const x = this.dice.below(1_000);
    const key = `place/${tail}`;
    return view.has(key) ? [["set", key, ["x"], x], ["set", key, ["y"], 7]] : [["put", key, entity({ x, y: 7 })]];
  }

  private typing(view: State, blocks: string[]): Drawn | null {
    const key = this.dice.one(blocks);
    const found = texts(view.get(key)).filter(([path]) => !NO_TEXT.includes(path[0] ?? ""));
    if (found.length === 0) return null;
    const [path, text] = this.dice.one(found);
    const start = this.dice.below(points(text) + 1);
    const removed = this.dice.one([0, 0, Math.min(3, points(slicePoints(text, start)))]);
    return { asked: operation([["splice", key, path, start, removed, this.letters(1 + this.dice.below(2))]]), typed: true };
  }
}

function structure(writes: Write[]): Drawn {
  return { asked: operation(writes), typed: false };
}

function bodies(view: State, blocks: string[]): Json[] {
  return [null, null, ...blocks.map(tailOf).filter((tail) => view.has(`subflow/${tail}`))];
}
