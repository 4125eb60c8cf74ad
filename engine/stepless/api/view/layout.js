"use strict";
// Layout: turns a document's nodes and edges into boxes and curves. The layer of a node is its longest path; the order within a
// layer is by barycentres; an edge that crosses a layer gets a cell of its own there (Sugiyama, Tagawa, Toda 1981). A container
// contains the layout of its body.

const BOX = { width: 168, height: 46, layerGap: 56, gap: 18, pad: 14, head: 30 };

function readEdges(part) {
  const edges = [];
  const add = (source, handle, target) => edges.push({ source, handle: handle === "onError" ? "error" : handle || "source", target });
  for (const [target, node] of Object.entries(part.nodes || {})) {
    for (const entry of [].concat(node.after ?? [])) {
      const text = typeof entry === "string" ? entry : entry.from;
      const dot = text.indexOf(".");
      add(dot < 0 ? text : text.slice(0, dot), dot < 0 ? "" : text.slice(dot + 1), target);
    }
  }
  for (const edge of part.edges || []) add(edge.source, edge.handle, edge.target);
  return edges.filter((edge) => part.nodes[edge.source] && part.nodes[edge.target]);
}

function layersOf(ids, edges) {
  const layer = new Map(ids.map((id) => [id, 0])), owed = new Map(ids.map((id) => [id, 0])), out = new Map(ids.map((id) => [id, []]));
  for (const { source, target } of edges) { out.get(source).push(target); owed.set(target, owed.get(target) + 1); }
  const ready = ids.filter((id) => !owed.get(id));
  while (ready.length) {
    const id = ready.shift();
    for (const target of out.get(id)) {
      layer.set(target, Math.max(layer.get(target), layer.get(id) + 1));
      owed.set(target, owed.get(target) - 1);
      if (!owed.get(target)) ready.push(target);
    }
  }
  return layer;
}

// Nodes that are only tools of other nodes. They are not drawn.
function toolsOf(part) {
  const lists = Object.values(part.nodes || {}).map((node) => node.with?.tools).filter(Array.isArray);
  return new Set(lists.flat().map((tool) => tool?.node).filter(Boolean));
}

// Returns {width, height, boxes: [{id, path, node, x, y, width, height, container}], curves: [{edge, path, points}]}.
function layout(part, across, path = []) {
  const cells = new Map(), rows = [], edges = readEdges(part), tools = toolsOf(part);
  const ids = Object.keys(part.nodes || {}).filter((id) => !tools.has(id));
  const layer = layersOf(ids, edges);
  const place = (key, at, cell) => { cells.set(key, { key, at, above: [], below: [], ...cell }); (rows[at] ||= []).push(cells.get(key)); };
  for (const id of ids) {
    const body = part.nodes[id].with?.body, inner = body ? layout(body, across, [...path, id]) : null;
    const width = inner ? Math.max(BOX.width, inner.width + 2 * BOX.pad) : BOX.width;
    const height = inner ? inner.height + BOX.head + BOX.pad : BOX.height;
    place(id, layer.get(id), { id, inner, width, height, long: across ? width : height, wide: across ? height : width });
  }
  const chains = edges.map((edge, number) => {
    const chain = [cells.get(edge.source)], last = layer.get(edge.target);
    for (let at = layer.get(edge.source) + 1; at < last; at++) {
      place(`${number}@${at}`, at, { long: 0, wide: 8 });
      chain.push(cells.get(`${number}@${at}`));
    }
    chain.push(cells.get(edge.target));
    for (let step = 1; step < chain.length; step++) { chain[step - 1].below.push(chain[step]); chain[step].above.push(chain[step - 1]); }
    return { edge, chain };
  });
  arrange(rows);
  let along = 0;
  for (const row of rows) {
    const long = Math.max(...row.map((cell) => cell.long));
    for (const cell of row) { cell.along = along + (long - cell.long) / 2; cell.band = [along, along + long]; }
    along += long + BOX.layerGap;
  }
  const least = Math.min(...[...cells.values()].map((cell) => cell.cross - cell.wide / 2), 0);
  const most = Math.max(...[...cells.values()].map((cell) => cell.cross + cell.wide / 2 - least), 0);
  const point = (a, c) => (across ? [a, c - least] : [c - least, a]);
  const boxes = [], curves = [];
  for (const cell of cells.values()) {
    if (!cell.id) continue;
    const [x, y] = point(cell.along, cell.cross - cell.wide / 2);
    boxes.push({ id: cell.id, path, node: part.nodes[cell.id], x, y, width: cell.width, height: cell.height, container: !!cell.inner });
    for (const box of cell.inner?.boxes ?? []) boxes.push({ ...box, x: box.x + x + BOX.pad, y: box.y + y + BOX.head });
    for (const curve of cell.inner?.curves ?? [])
      curves.push({ ...curve, points: curve.points.map(([a, b]) => [a + x + BOX.pad, b + y + BOX.head]) });
  }
  for (const { edge, chain } of chains) {
    const points = [];
    chain.forEach((cell, step) => {
      if (step > 0) points.push(point(cell.id ? cell.along : cell.band[0], cell.cross));
      if (step < chain.length - 1) points.push(point(cell.id ? cell.along + cell.long : cell.band[1], cell.cross));
    });
    curves.push({ edge, path, points });
  }
  const length = Math.max(0, along - BOX.layerGap);
  return { width: across ? length : most, height: across ? most : length, boxes, curves };
}

function arrange(rows) {
  const mean = (list) => list.reduce((sum, cell) => sum + cell.cross, 0) / list.length;
  const spread = (row) => { let at = 0; for (const cell of row) { cell.cross = at + cell.wide / 2; at += cell.wide + BOX.gap; } };
  rows.forEach(spread);
  for (let round = 0; round < 6; round++) {
    const side = round % 2 ? "below" : "above", order = round % 2 ? [...rows].reverse() : rows;
    for (const row of order) {
      for (const cell of row) cell.wish = cell[side].length ? mean(cell[side]) : cell.cross;
      row.sort((a, b) => a.wish - b.wish);
      spread(row);
      const shift = row.reduce((sum, cell) => sum + cell.wish - cell.cross, 0) / row.length;
      for (const cell of row) cell.cross += shift;
    }
  }
  for (let round = 0; round < 4; round++)  // closer to the neighbours, without overlaps
    for (const row of round % 2 ? [...rows].reverse() : rows) settle(row, (cell) => [...cell.above, ...cell.below], mean);
}

function settle(row, around, mean) {
  for (const cell of row) { const near = around(cell); cell.wish = near.length ? mean(near) : cell.cross; }
  const least = (a, b) => (a.wide + b.wide) / 2 + BOX.gap;
  const down = row.map((cell) => cell.wish), up = [...down];
  for (let i = 1; i < row.length; i++) down[i] = Math.max(down[i], down[i - 1] + least(row[i - 1], row[i]));
  for (let i = row.length - 2; i >= 0; i--) up[i] = Math.min(up[i], up[i + 1] - least(row[i], row[i + 1]));
  row.forEach((cell, i) => { cell.cross = (down[i] + up[i]) / 2; });
}

function curvePath(points, across) {
  let path = `M${points[0]}`;
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i];
    path += across ? ` C${[(x0 + x1) / 2, y0, (x0 + x1) / 2, y1, x1, y1]}` : ` C${[x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1]}`;
  }
  return path;
}
