/* The drawing of the neighbourhood: drawn once; `paint` then updates the probabilities. */

const PICTURE = { width: 560, margin: 36, namedMargin: 72 };
const DISC = { special: 17, ring: 21, other: 5.5 };
const FITS_A_DISC = 4;
const FITS_BELOW = 18;
const MOST_NEIGHBOURS_NAMED = 12;

/**
 * The neighbourhood: a square for the target, discs for nodes of the network, dots for others, all
 * in the colour of their predicted class.
 * @returns {{svg: SVGElement, paint: function}}
 */
function drawPicture(picture, network) {
  if (picture.strip) return drawStrip(picture.strip, network);
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
  const discs = [];
  const place = (part, drawn) => {
    const variable = variableOf(network, part.key);
    const { group } = drawn(variable);
    svg.append(group);
    if (variable >= 0) discs.push({ group, variable, node: part });
  };
  for (const part of picture.groups) {
    place(part, (variable) => drawGroup(part, places, picture.edges, variable));
  }
  for (const [from, to] of picture.edges) svg.append(drawLink(picture, places, from, to));
  for (const edge of picture.partEdges) {
    place(edge, (variable) => drawPartEdge(edge, places, picture.directed, variable));
  }
  const named = namedNeighbours(picture);
  // Dots first, so that they never cover a disc.
  const order = [...picture.nodes.keys()].sort(
    (a, b) => (picture.nodes[b].role === "other") - (picture.nodes[a].role === "other"),
  );
  for (const at of order) {
    const node = picture.nodes[at];
    const variable = variableOf(network, node.keys[0]);
    const disc = drawDisc(node, places[at], variable, picture.classes[node.class], named.has(at));
    svg.append(disc.group);
    if (variable >= 0) discs.push({ ...disc, variable, node });
  }
  svg.append(...edgeGroupNames(picture.partEdges, places));
  return { svg, paint: (beliefs) => discs.forEach((disc) => paintDisc(disc, beliefs)) };
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

function drawDisc(node, [x, y], variable, ofClass, isNamed) {
  const fill = ofClass?.colour;
  const group = shape("g", { class: `node ${node.role}`, "data-key": node.keys.join(" ") });
  group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  group.append(shape("title", {}, ofClass ? `${node.name}: ${ofClass.name}` : node.name));
  if (node.role === "other") {
    group.append(filled(shape("circle", { r: DISC.other }), fill));
    const below = { class: "name", y: DISC.other + 12 };
    if (isNamed) group.append(shape("text", below, shortened(node.name, FITS_BELOW)));
    return { group };
  }
  const outline = (r, kind) => shape("path", { d: outlineOf(node.role, r), class: kind });
  const arc = outline(DISC.ring, "arc");
  arc.setAttribute("pathLength", 100);
  if (variable >= 0) {
    group.append(outline(DISC.ring + 5, "halo"), outline(DISC.ring, "ring"), arc);
    makeButton(group, variable);
  }
  const inside = fitsDisc(node.name);
  const label = { class: inside ? "name in" : "name", y: inside ? 0 : DISC.ring + 14 };
  const name = shape("text", label, shortened(node.name, FITS_BELOW));
  group.append(
    filled(outline(DISC.special, "disc"), fill),
    inside ? filled(name, ofClass?.ink) : name,
  );
  return { group, arc };
}

/** A square for the target, a circle for others, clockwise from the top. */
function outlineOf(role, r) {
  const side = 0.9 * r;
  return role === "end"
    ? `M0 ${-side}H${side}V${side}H${-side}V${-side}Z`
    : `M0 ${-r}A${r} ${r} 0 0 1 0 ${r}A${r} ${r} 0 0 1 0 ${-r}Z`;
}

function filled(drawn, colour) {
  if (colour) drawn.style.fill = colour;
  return drawn;
}

/** The meaning of marks and colours; the texts come from payload.py. */
function pictureLegend({ legend, classes, grey, partEdges, groups, strip }, { directions }) {
  const drawn = [...partEdges, ...groups, ...(strip?.cells ?? [])];
  const colours = drawn.length ? [directionLegend(directions, drawn)] : [];
  return [legend, ...colours, classLegend(classes, grey)];
}

function classLegend(classes, grey) {
  const entries = grey ? [...classes, { name: grey }] : classes;
  const items = entries.map(({ name, colour }) => {
    const dot = shape("svg", { viewBox: "-6 -6 12 12", width: 12, height: 12, class: "key" },
      filled(shape("circle", { r: 5 }), colour));
    return element("li", {}, dot, name);
  });
  return element("ul", { class: "classes", "aria-label": "Predicted classes" }, ...items);
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
