/* The neighbourhood as a picture: drawn once; `paint` then shows what is believed. */

const PICTURE = { width: 560, margin: 36, namedMargin: 72 };
const DISC = { special: 17, ring: 21, other: 5 };
const FITS_A_DISC = 4;
const FITS_BELOW = 18;

/**
 * The neighbourhood: discs for the target and the explaining nodes, dots for others.
 * @returns {{svg: SVGElement, paint: function}}
 */
function drawPicture(picture, network) {
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
  for (const [from, to] of picture.edges) svg.append(drawLink(picture, places, from, to));
  const discs = [];
  // The dots first, so that no disc is ever hidden by one.
  const order = [...picture.nodes.keys()].sort(
    (a, b) => (picture.nodes[b].role === "other") - (picture.nodes[a].role === "other"),
  );
  for (const at of order) {
    const node = picture.nodes[at];
    const variable = network ? network.variables.findIndex(({ key }) => key === node.keys[0]) : -1;
    const disc = drawDisc(node, places[at], variable);
    svg.append(disc.group);
    if (variable >= 0) discs.push({ ...disc, variable, node });
  }
  return { svg, paint: (beliefs) => discs.forEach((disc) => paintDisc(disc, beliefs)) };
}

function drawLink(picture, places, from, to) {
  const marked = [from, to].every((end) => picture.nodes[end].role !== "other");
  const [[x1, y1], [x2, y2]] = [places[from], places[to]];
  return shape("line", { x1, y1, x2, y2, class: marked ? "link marked" : "link" });
}

function drawDisc(node, [x, y], variable) {
  const special = node.role !== "other";
  const inside = fitsDisc(node.name);
  const group = shape("g", { class: `node ${node.role}`, "data-key": node.keys.join(" ") });
  group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  group.append(shape("title", {}, node.name));
  if (!special) {
    group.append(shape("circle", { r: DISC.other }));
    return { group };
  }
  const circle = { r: DISC.ring, pathLength: 100, transform: "rotate(-90)" };
  const arc = shape("circle", { ...circle, class: "arc" });
  if (variable >= 0) {
    group.append(shape("circle", { r: DISC.ring + 4, class: "halo" }));
    group.append(shape("circle", { r: DISC.ring, class: "ring" }), arc);
    makeButton(group, variable);
  }
  const label = { class: inside ? "name in" : "name", y: inside ? 0 : DISC.ring + 14 };
  group.append(
    shape("circle", { r: DISC.special, class: "disc" }),
    shape("text", label, shortened(node.name, FITS_BELOW)),
  );
  return { group, arc };
}

/** A ring tells how likely the node is as it was; an outline, that something is known of it. */
function paintDisc({ group, arc, variable, node }, beliefs) {
  const facts = beliefs.facts[variable];
  const share = beliefs.possible ? (factOf(facts, "kept") ?? factOf(facts, "original")).p : 0;
  arc.style.strokeDasharray = `${100 * share} 100`;
  group.classList.toggle("known", beliefs.known[variable].length > 0);
  group.setAttribute("aria-label", spoken(node.name, variable, beliefs));
}

function fitsDisc(name) {
  return name.length <= FITS_A_DISC;
}
