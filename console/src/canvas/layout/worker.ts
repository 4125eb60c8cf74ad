/** The layout in a worker of its own: a graph in, its layout out, with the number of the request. */
import { layout, type Graph } from "./layout.ts";

addEventListener("message", (event: MessageEvent<{ number: number; graph: Graph }>) => {
  postMessage({ number: event.data.number, layout: layout(event.data.graph) });
});
