/* Parts that are not nodes: edges and groups in the neighbourhood, and strips of cells. */

const EDGE = { thinnest: 1.4, widest: 9, weak: 1.2, casing: 3.5, hit: 16, bend: 0.12, loop: 11 };
const BLOB = 46;
const COLOURS = { falls: "falls", rises: "rises", both: "unclear" };
const STRIP = { width: 560, cell: 26, widestCell: 64, letter: 6.6, most: 60, top: 8, side: 26 };

/** An edge by its effect: colour for the direction, width for the strength. */
function drawPartEdge(edge, places, directed, variable) {
  const path = edgePath(...edge.ends.map((end) => places[end]), directed);
  const width = edge.direction
    ? EDGE.thinnest + (EDGE.widest - EDGE.thinnest) * edge.strength : EDGE.weak;
  const line = (kind, wide) => stroke(path, kind, wide);
  const group = shape("g", { class: "node part", "data-key": edge.key });
  group.append(shape("title", {}, `${edge.name}: ${edge.about}`), line("hit", EDGE.hit));
  group.append(line("part-halo", width + 2 * EDGE.casing));
  if (edge.explaining) group.append(line("casing", width + EDGE.casing));
  group.append(line(`by-effect ${edge.direction || "none"}`, width));
  if (directed) group.append(arrowTip(edge.ends.map((end) => places[end]), edge.direction, width));
  if (variable >= 0) makeButton(group, variable);
  return { group };
}

/** A path with a line of this width. */
function stroke(d, kind, width) {
  const drawn = shape("path", { d, class: kind });
  drawn.style.strokeWidth = `${width}px`;
  return drawn;
}

/** A line between two places; bent if edges have directions, so that opposites do not overlap. */
function edgePath([x1, y1], [x2, y2], directed) {
  if (x1 === x2 && y1 === y2) {
    const r = EDGE.loop;
    return `M${x1} ${y1}a${r} ${r} 0 1 1 0.1 0Z`;
  }
  const [cx, cy] = bendPoint([x1, y1], [x2, y2], directed);
  return `M${x1} ${y1}Q${cx} ${cy} ${x2} ${y2}`;
}

function bendPoint([x1, y1], [x2, y2], directed) {
  const bend = directed ? EDGE.bend : 0;
  return [(x1 + x2) / 2 + bend * (y1 - y2), (y1 + y2) / 2 + bend * (x2 - x1)];
}

/** The arrow head of a directed edge, at some distance from the node it points to. */
function arrowTip([from, to], direction, width) {
  if (from[0] === to[0] && from[1] === to[1]) return shape("g");
  const d = headPath(bendPoint(from, to, true), to, 14, 6 + width);
  return shape("path", { d, class: `head ${direction || "none"}` });
}

/** The outline around the nodes of a group: wide lines below slightly narrower ones. */
function drawGroup(part, places, edges, variable, name) {
  const inside = new Set(part.nodes);
  const dots = part.nodes.map((at) => `M${places[at][0]} ${places[at][1]}h0.01`);
  const lines = edges.filter(([u, v]) => inside.has(u) && inside.has(v))
    .map(([u, v]) => `M${places[u][0]} ${places[u][1]}L${places[v][0]} ${places[v][1]}`);
  const path = [...dots, ...lines].join("");
  const border = part.direction ? 3 + 5 * part.strength : 2;
  const layer = (kind, wide) => stroke(path, `blob ${kind}`, wide);
  const group = shape("g", { class: "node part", "data-key": part.key });
  group.append(shape("title", {}, `${part.name}: ${part.about}`));
  group.append(layer("part-halo", BLOB + border + 2 * EDGE.casing));
  if (part.explaining) group.append(layer("casing", BLOB + border + EDGE.casing));
  group.append(layer(`by-effect ${part.direction || "none"}`, BLOB + border), layer("inside", BLOB));
  group.append(shape("g", { transform: `translate(${topOf(part, places).join(" ")})` }, name));
  if (variable >= 0) makeButton(group, variable);
  return { group };
}

/** The place of the topmost node of a group. */
function topOf({ nodes }, places) {
  return nodes.map((at) => places[at]).reduce((best, each) => (each[1] < best[1] ? each : best));
}

/**
 * Features or time steps: a column for each, a row for each node, a cell for each effect.
 * @returns {{svg: SVGElement, paint: function}}
 */
function drawStrip({ noun, columns, rows, target, cells }, network) {
  const longest = (names) => Math.max(...names.map((name) => Math.min(name.length, FITS_BELOW)));
  const left = STRIP.letter * (longest(rows) + (target === null ? 0 : 9)) + 12;
  const step = Math.max(STRIP.cell, Math.min(STRIP.widestCell, (STRIP.width - left) / columns.length));
  const [width, bottom] = [left + step * columns.length + 4, STRIP.top + STRIP.cell * rows.length];
  const turned = longest(columns) * STRIP.letter > step;
  const svg = canvas(width, bottom + (turned ? STRIP.letter * longest(columns) + 30 : 44), "Effects");
  const buttons = cells.map((cell) => drawCell(cell, left, step, cells.length <= STRIP.most, network));
  // Thick outlines last, so that no neighbour covers them.
  buttons.sort((a, b) => a.cell.explaining - b.cell.explaining);
  svg.append(...buttons.map(({ group }) => group));
  rows.forEach((name, row) => {
    const text = shortened(name, FITS_BELOW) + (row === target ? " (target)" : "");
    const y = STRIP.top + (row + 0.5) * STRIP.cell;
    svg.append(shape("text", { class: "side row", x: left - 8, y }, text));
  });
  columns.forEach((name, column) => {
    const [x, y] = [left + (column + 0.5) * step, bottom + 14];
    const turn = turned ? `rotate(-90 ${x} ${y})` : null;
    const kind = turned ? "side row" : "side";
    svg.append(shape("text", { class: kind, x, y, transform: turn }, shortened(name, FITS_BELOW)));
  });
  const height = Number(svg.getAttribute("height"));
  const x = left + (step * columns.length) / 2;
  svg.append(shape("text", { class: "side", x, y: height - 8 }, noun));
  const known = buttons.filter(({ variable }) => variable >= 0);
  return { svg, width, paint: (beliefs) => known.forEach((each) => paintDisc(each, beliefs)) };
}

function drawCell(cell, left, step, withNumber, network) {
  const [row, column] = cell.at;
  const place = { x: left + column * step, y: STRIP.top + row * STRIP.cell, width: step, height: STRIP.cell };
  const group = shape("g", { class: cell.explaining ? "node cell explaining" : "node cell", "data-key": cell.key });
  const box = shape("rect", { ...place, class: "box" });
  if (cell.direction) {
    const share = `${Math.round(100 * cell.strength)}%`;
    box.style.fill = `color-mix(in srgb, var(--${COLOURS[cell.direction]}) ${share}, var(--card))`;
  }
  group.append(shape("title", {}, `${cell.name}: ${cell.about}`), box);
  if (cell.direction) {
    const text = withNumber ? cell.text : cell.text[0];
    const kind = cell.strength > 0.6 ? "in strong" : "in";
    const middle = { x: place.x + step / 2, y: place.y + STRIP.cell / 2, class: kind };
    group.append(shape("text", middle, text));
  }
  const variable = variableOf(network, cell.key);
  if (variable >= 0) makeButton(group, variable);
  return { group, variable, cell, node: cell };
}

function variableOf(network, key) {
  return network ? network.variables.findIndex((variable) => variable.key === key) : -1;
}
