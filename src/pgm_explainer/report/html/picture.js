/* The drawing of the neighbourhood: drawn once; `paint` then updates the probabilities. */

const PICTURE = { width: 560, margin: 36, namedMargin: 72 };
const DISC = { special: 17, ring: 21, other: 5.5 };
const HEAD = { marked: 9, other: 6 };
const FITS_A_DISC = 4;
const FITS_BELOW = 18;
const MOST_NEIGHBOURS_NAMED = 12;

/**
 * The neighbourhood: a square for the target, discs for nodes of the network, dots for others, all
 * in the colour of their predicted class. Node types have other shapes than discs.
 * @returns {{svg: SVGElement, paint: function, unnamed: number}} with the number of hidden names.
 */
function drawPicture(picture, network) {
  if (picture.strip) return drawStrip(picture.strip, network);
  const zoom = textZoom($("picture"), PICTURE.width);
  const long = picture.nodes.some(({ role, name }) => role !== "other" && !fitsDisc(name));
  const margin = long ? PICTURE.namedMargin : PICTURE.margin;
  const inside = PICTURE.width - 2 * margin;
  const extent = (axis) => Math.max(0, ...picture.nodes.map((node) => node.at[axis]));
  const [wide, high] = [extent(0) * inside, extent(1) * inside];
  const height = Math.max(high, 60) + 2 * PICTURE.margin + 10;
  const svg = canvas(PICTURE.width, height, "The neighbourhood");
  const places = picture.nodes.map(({ at }) => [
    (PICTURE.width - wide) / 2 + at[0] * inside,
    (height - high) / 2 + at[1] * inside,
  ]);
  const named = namedNeighbours(picture);
  const names = placeNames(picture, places, network, named, [PICTURE.width, height], zoom);
  const discs = [];
  const place = (part, drawn) => {
    const variable = variableOf(network, part.key);
    const { group } = drawn(variable);
    svg.append(group);
    if (variable >= 0) discs.push({ group, variable, node: part });
  };
  picture.groups.forEach((part, at) => {
    place(part, (variable) => drawGroup(part, places, picture.edges, variable, names.groups[at]));
  });
  picture.edges.forEach((edge, at) => {
    svg.append(drawLink(picture, places, ...edge), ...drawHeads(picture, places, at, network));
  });
  for (const edge of picture.partEdges) {
    place(edge, (variable) => drawPartEdge(edge, places, picture.directed, variable));
  }
  // Dots first, so that they never cover a disc.
  const order = [...picture.nodes.keys()].sort(
    (a, b) => (picture.nodes[b].role === "other") - (picture.nodes[a].role === "other"),
  );
  for (const at of order) {
    const node = picture.nodes[at];
    const variable = variableOf(network, node.keys[0]);
    const disc = drawDisc(node, places[at], variable, picture, names.nodes.get(at), zoom);
    svg.append(disc.group);
    if (variable >= 0) discs.push({ ...disc, variable, node });
  }
  svg.append(...names.edges);
  const paint = (beliefs) => discs.forEach((disc) => paintDisc(disc, beliefs));
  return { svg, paint, unnamed: names.unnamed };
}

/** The names that are written beside their marks: the target's first, then those of the network. */
function placeNames(picture, places, network, named, size, zoom) {
  const { nodes, edges, groups, partEdges } = picture;
  const isMarked = (at) => nodes[at].role !== "other";
  const beside = [...nodes.keys()].filter((at) => (isMarked(at) ? !fitsDisc(nodes[at].name) : named.has(at)));
  const marks = nodes.map((node, at) => ({
    at: places[at], r: radiusOf(node, network), small: !isMarked(at) && !named.has(at),
  }));
  const lines = partEdges.length ? partEdges.map(({ ends }) => ends) : edges.filter((ends) => ends.every(isMarked));
  const find = nameFinder(size, marks, lines.map((ends) => ends.map((end) => places[end])));
  const rank = (at) => ["end", "explaining", "other"].indexOf(nodes[at].role);
  const found = { nodes: new Map(), groups: [], edges: [], unnamed: 0 };
  const name = (text, at, r, options = {}) => {
    const [short, fontSize] = [shortened(text, FITS_BELOW), (options.size ?? NAME.size) * zoom];
    const spot = find(short, at, r, fontSize, options);
    if (!spot) found.unnamed += 1;
    return nameText(short, spot, r, fontSize);
  };
  for (const at of beside.sort((a, b) => rank(a) - rank(b))) {
    const small = isMarked(at) ? {} : { size: NAME.size - 1, weight: 400 };
    found.nodes.set(at, name(nodes[at].name, places[at], marks[at].r, small));
  }
  found.groups = groups.map((group) => name(group.name, topOf(group, places), BLOB / 2 + 4, { up: true }));
  const last = new Map(partEdges.filter(({ grouped }) => grouped).map((edge) => [edge.key, edge]));
  found.edges = [...last.values()].map((edge) => {
    const [[x1, y1], [x2, y2]] = edge.ends.map((end) => places[end]);
    const middle = [(x1 + x2) / 2, (y1 + y2) / 2];
    const transform = `translate(${middle.join(" ")})`;
    return shape("g", { class: "node", "data-key": edge.key, transform }, name(edge.name, middle, 2));
  });
  return found;
}

function radiusOf({ role, keys }, network) {
  if (role === "other") return DISC.other;
  return variableOf(network, keys[0]) >= 0 ? DISC.ring + 2 : DISC.special;
}

/** The target's neighbours are named too, unless they are many, and the ends of marked edges. */
function namedNeighbours({ nodes, edges }) {
  const near = edges.flatMap(([from, to]) => [
    ...(nodes[from].role === "end" ? [to] : []), ...(nodes[to].role === "end" ? [from] : []),
  ]);
  const others = new Set(near.filter((at) => nodes[at].role === "other"));
  const ends = [...nodes.keys()].filter((at) => nodes[at].named);
  return new Set([...(others.size <= MOST_NEIGHBOURS_NAMED ? others : []), ...ends]);
}

function drawLink(picture, places, from, to) {
  const marked = [from, to].every((end) => picture.nodes[end].role !== "other");
  const [[x1, y1], [x2, y2]] = [places[from], places[to]];
  return shape("line", { x1, y1, x2, y2, class: marked ? "link marked" : "link" });
}

/** The heads of an edge of a directed graph, at each end that it points to. */
function drawHeads({ nodes, edges, heads, directed }, places, at, network) {
  if (!heads || directed) return [];
  const [from, to] = edges[at];
  const marked = edges[at].every((end) => nodes[end].role !== "other");
  const ends = [[to, from, heads[at][0]], [from, to, heads[at][1]]];
  return ends.filter(([start, end, isHead]) => isHead && start !== end).map(([start, end]) => {
    const size = marked ? HEAD.marked : HEAD.other;
    const d = headPath(places[start], places[end], radiusOf(nodes[end], network) + 1, size);
    return shape("path", { d, class: marked ? "link-head marked" : "link-head" });
  });
}

/** A triangle that points from one place to another, at a distance from the latter. */
function headPath(from, to, distance, size) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const [x, y] = [to[0] - distance * ux, to[1] - distance * uy];
  const corner = (side) => `${x - size * ux + (side * size * uy) / 2} ${y - size * uy - (side * size * ux) / 2}`;
  return `M${x} ${y}L${corner(1)}L${corner(-1)}Z`;
}

function drawDisc(node, [x, y], variable, picture, name, zoom) {
  const ofClass = picture.classes[node.class];
  const fill = ofClass?.colour;
  const plain = picture.classes.length ? "" : "plain";
  const kind = `node ${node.role} ${node.direction} ${plain}`.trim();
  const group = shape("g", { class: kind, "data-key": node.keys.join(" ") });
  group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  group.append(shape("title", {}, ofClass ? `${node.name}: ${ofClass.name}` : node.name));
  if (node.role === "other") {
    group.append(filled(shape("path", { d: outlineOf(node, DISC.other), class: "dot" }), fill));
    if (name) group.append(name);
    return { group };
  }
  const outline = (r, kind) => shape("path", { d: outlineOf(node, r), class: kind });
  const arc = outline(DISC.ring, "arc");
  arc.setAttribute("pathLength", 100);
  if (variable >= 0) {
    group.append(outline(DISC.ring + 5, "halo"), outline(DISC.ring, "ring"), arc);
    makeButton(group, variable);
  }
  group.append(filled(outline(DISC.special, "disc"), fill));
  if (name) {
    group.append(name);
  } else {
    const inside = shape("text", { class: "name in" }, node.name);
    inside.style.fontSize = `${NAME.size * Math.min(zoom, FITS_A_DISC / node.name.length)}px`;
    group.append(filled(inside, ofClass?.ink));
  }
  return { group, arc };
}

/** The corners of the shapes of node types, as angles from the top; the first shape is a circle. */
const CORNERS = [null, [0, 120, 240], [0, 90, 180, 270], [60, 180, 300], [0, 72, 144, 216, 288], [0, 60, 120, 180, 240, 300]];

/** A square for the target, and for others the shape of their type, clockwise from the top. */
function outlineOf({ role, shape: type }, r) {
  if (role === "end") {
    const side = 0.9 * r;
    return `M0 ${-side}H${side}V${side}H${-side}V${-side}Z`;
  }
  if (!CORNERS[type]) return `M0 ${-r}A${r} ${r} 0 0 1 0 ${r}A${r} ${r} 0 0 1 0 ${-r}Z`;
  const far = 1.12 * r;
  const points = CORNERS[type].map((degrees) => (degrees * Math.PI) / 180)
    .map((angle) => `${(far * Math.sin(angle)).toFixed(2)} ${(-far * Math.cos(angle)).toFixed(2)}`);
  return `M${points.join("L")}Z`;
}

function filled(drawn, colour) {
  if (colour) drawn.style.fill = colour;
  return drawn;
}

/** The meaning of marks and colours; the texts come from payload.py. */
function pictureLegend({ legend, classes, grey, partEdges, groups, strip, nodes, types }, { directions }, unnamed) {
  const drawn = [...partEdges, ...groups, ...(strip?.cells ?? []), ...nodes];
  const colours = drawn.some(({ direction }) => direction) ? [directionLegend(directions, drawn)] : [];
  const hidden = unnamed
    ? ` ${unnamed} ${unnamed === 1 ? "name is" : "names are"} hidden for lack of space: point at a node to read its name.`
    : "";
  const ofTypes = types.map(({ name, shape: type }) => ({ name, type, kind: "type" }));
  const ofClasses = grey ? [...classes, { name: grey }] : classes;
  return [legend + hidden, ...keyList("Node types", ofTypes), ...colours, ...keyList("Predicted classes", ofClasses)];
}

function keyList(label, entries) {
  const items = entries.map(({ name, colour, type = 0, kind = "" }) => {
    const dot = filled(shape("path", { d: outlineOf({ shape: type }, 5) }), colour);
    const key = { viewBox: "-6 -6 12 12", width: 12, height: 12, class: `key ${kind}` };
    return element("li", {}, shape("svg", key, dot), name);
  });
  return items.length ? [element("ul", { class: "classes", "aria-label": label }, ...items)] : [];
}

/** The ring shows the probability that the node is unchanged; an outline marks evidence. */
function paintDisc({ group, arc, variable, node }, beliefs) {
  const facts = beliefs.facts[variable];
  const share = beliefs.possible ? (factOf(facts, "kept") ?? factOf(facts, "original")).p : 0;
  if (arc) arc.style.strokeDasharray = `${100 * share} 100`;
  group.classList.toggle("known", beliefs.known[variable].length > 0);
  group.setAttribute("aria-label", spoken(node.name, variable, beliefs));
}

function fitsDisc(name) {
  return name.length <= FITS_A_DISC;
}
