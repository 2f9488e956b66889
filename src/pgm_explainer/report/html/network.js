/* The drawing of the network: drawn once; `paint` then updates the probabilities. */

const CARD = { width: 200, gap: 34, head: 27, row: 17, foot: 8, effect: 15 };
const BAR = { left: 80, width: 58 };
const LAYER_GAP = 48;
const PORT_GAP = 16;
const SMALLEST = 0.6;
const FITS_A_CARD = 20;
const TIP = 7;

/**
 * The network: a card for each variable, every edge leading down.
 * @returns {{svg: SVGElement, paint: function}}
 */
function drawNetwork(network, kinds) {
  const boxes = placeCards(network, kinds);
  const left = Math.min(...boxes.map((box) => box.x), ...bendPlaces(network)) - 6;
  const right = Math.max(...boxes.map((box) => box.x + CARD.width), ...bendPlaces(network)) + 6;
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + 6;
  const svg = canvas(right - left, bottom, `The ${network.title}`);
  const top = firstApart(network) ? -6 : -30;
  svg.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
  svg.style.minWidth = `${SMALLEST * (right - left)}px`; // a narrower page scrolls
  for (const arrow of routeArrows(network, boxes)) svg.append(drawArrow(arrow, network));
  const cards = network.variables.map((variable, at) => {
    const parts = kinds[variable.kind].facts.filter((fact) => fact.part);
    return drawCard(variable, at, boxes[at], parts, at === network.target);
  });
  svg.append(...cards.map((card) => card.group), ...drawApart(network, boxes[0].bands));
  const paint = (beliefs) => cards.forEach((card) => paintCard(card, beliefs));
  return { svg, width: right - left, height: bottom - top, paint };
}

function across(x) {
  return x * (CARD.width + CARD.gap);
}

function bendPlaces(network) {
  return network.arrows.flatMap(([, , bends]) => bends.map(across));
}

function placeCards(network, kinds) {
  const heights = network.variables.map(({ kind, effect }) => {
    const rows = kinds[kind].facts.filter((fact) => fact.part).length;
    return CARD.head + (effect ? CARD.effect : 0) + CARD.row * rows + CARD.foot;
  });
  const depth = Math.max(...network.variables.map(({ layer }) => layer)) + 1;
  const tops = [];
  const bottoms = [];
  for (let layer = 0, y = 0; layer < depth; layer++) {
    const here = heights.filter((_, at) => network.variables[at].layer === layer);
    tops.push(y);
    bottoms.push(y + Math.max(...here));
    y = bottoms[layer] + (layer >= firstApart(network) ? CARD.gap / 2 : LAYER_GAP);
  }
  return network.variables.map(({ x, layer }, at) => ({
    x: across(x) - CARD.width / 2,
    y: tops[layer],
    height: heights[at],
    bands: [tops, bottoms],
  }));
}

/** The first layer of variables without any arrow, which come last; Infinity if there is none. */
function firstApart({ variables, arrows }) {
  const connected = new Set(arrows.flatMap(([parent, child]) => [parent, child]));
  const layers = variables.filter((_, at) => !connected.has(at)).map(({ layer }) => layer);
  return Math.min(Infinity, ...layers);
}

function drawApart(network, [tops]) {
  const layer = firstApart(network);
  if (!Number.isFinite(layer) || network.variables.length === 1) return [];
  const text = layer ? "Independent of the others:" : "All independent of each other:";
  return [shape("text", { class: "apart", x: 0, y: tops[layer] - 12 }, text)];
}

/** The points of each arrow: from its parent, straight through the layers between, to its child. */
function routeArrows(network, boxes) {
  const [tops, bottoms] = boxes[0].bands;
  const arrows = network.arrows.map(([parent, child, bends, up, down, share]) => {
    const xs = [network.variables[parent].x, ...bends, network.variables[child].x].map(across);
    return { parent, child, xs, up, down, share, first: xs[1], last: xs.at(-2) };
  });
  spreadPorts(arrows, "parent", "first", 0);
  spreadPorts(arrows, "child", "last", -1);
  return arrows.map(({ parent, child, xs, up, down, share }) => {
    const layer = network.variables[parent].layer;
    const points = [[xs[0], boxes[parent].y + boxes[parent].height + (up ? TIP : 0)]];
    xs.slice(1, -1).forEach((x, at) => {
      points.push([x, tops[layer + 1 + at]], [x, bottoms[layer + 1 + at]]);
    });
    points.push([xs.at(-1), boxes[child].y - (down ? TIP : 0)]);
    return { parent, child, points, up, down, share };
  });
}

/** Place arrows at the same card side by side, ordered by where they lead. */
function spreadPorts(arrows, end, towards, position) {
  for (const variable of new Set(arrows.map((arrow) => arrow[end]))) {
    const here = arrows.filter((arrow) => arrow[end] === variable);
    here.sort((a, b) => a[towards] - b[towards]);
    const gap = Math.min(PORT_GAP, (CARD.width - 40) / here.length);
    here.forEach((arrow, at) => {
      arrow.xs[position < 0 ? arrow.xs.length - 1 : 0] += (at - (here.length - 1) / 2) * gap;
    });
  }
}

function drawArrow({ parent, child, points, up, down, share }, network) {
  const [[x, y], ...rest] = points;
  let path = `M${x} ${y}`;
  let [px, py] = [x, y];
  for (const [qx, qy] of rest) {
    const middle = (py + qy) / 2;
    path += `C${px} ${middle} ${qx} ${middle} ${qx} ${qy}`;
    [px, py] = [qx, qy];
  }
  const keys = [parent, child].map((end) => network.variables[end].key).join(" ");
  const tips = [
    ...(down ? [`M${px - 4.5} ${py - 3}h9l-4.5 9z`] : []),
    ...(up ? [`M${x - 4.5} ${y + 3}h9l-4.5 -9z`] : []),
  ].map((d) => shape("path", { d, class: "tip" }));
  const shaft = shape("path", { d: path, class: "shaft" });
  return shape(
    "g",
    { class: "arrow", "data-key": keys },
    shaft,
    ...tips,
    ...drawConfidence(shaft, points, share),
  );
}

/** The share of resamples that have an edge: as its width, and as a number beside it. */
function drawConfidence(shaft, points, share) {
  if (share === undefined) return [];
  const [number, text] = share;
  shaft.style.strokeWidth = `${0.6 + 2.4 * number}px`;
  const passing = points.length > 2 ? points.slice(1, 3) : points; // layers are passed apart
  const [[x, y], [toX, toY]] = passing;
  const place = { x: (x + toX) / 2, y: (y + toY) / 2 + 4, class: "confidence" };
  return [shape("text", place, text)];
}

function drawCard(variable, at, box, parts, isTarget) {
  const group = shape("g", {
    class: isTarget ? "card target" : "card",
    "data-key": variable.key,
    transform: `translate(${box.x} ${box.y})`,
  });
  makeButton(group, at);
  const frame = { width: CARD.width, height: box.height, rx: 9 };
  const title = shortened(variable.name, FITS_A_CARD);
  group.append(
    shape("title", {}, variable.name),
    shape("rect", { ...frame, class: "frame" }),
    shape("text", { x: 12, y: 18, class: "title" }, title),
  );
  const { effect, evidence, direction } = variable;
  if (effect) {
    const about = { x: 12, y: CARD.head + 5, class: `about ${direction}` };
    group.append(shape("text", about, `${evidence}: ${effect}`));
  }
  const first = CARD.head + (effect ? CARD.effect : 0);
  const rows = parts.map((fact, row) => drawRow(fact, first + row * CARD.row));
  group.append(...rows.map((row) => row.group));
  return { group, rows, variable: at, name: variable.name };
}

function drawRow(fact, top) {
  const group = shape("g", { class: `row ${fact.about}`, transform: `translate(0 ${top})` });
  group.dataset.word = fact.word;
  const track = { x: BAR.left, y: 4, width: BAR.width, height: CARD.row - 8, rx: 3 };
  const kind = fact.word.split(" ")[0];
  const bar = shape("rect", { ...track, class: `bar ${kind}` });
  const number = shape("text", { x: CARD.width - 12, y: 12, class: "number" });
  group.append(
    shape("rect", { x: 4, width: CARD.width - 8, height: CARD.row, rx: 4, class: "target-area" }),
    shape("text", { x: 12, y: 12, class: "word" }, fact.word),
    shape("rect", { ...track, class: "empty" }),
    bar,
    number,
  );
  return { group, bar, number, word: fact.word };
}

function paintCard({ group, rows, variable, name }, beliefs) {
  const known = beliefs.known[variable];
  group.classList.toggle("known", known.length > 0);
  group.setAttribute("aria-label", spoken(name, variable, beliefs));
  for (const { group: row, bar, number, word } of rows) {
    const { p } = factOf(beliefs.facts[variable], word);
    bar.style.width = `${beliefs.possible ? BAR.width * p : 0}px`;
    number.textContent = beliefs.possible ? percent(p) : "–";
    row.classList.toggle("stated", known.includes(word));
    row.dataset.probability = p;
  }
}
