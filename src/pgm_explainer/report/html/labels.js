/*
 * Positions of names: a name covers no other name and no marked node.
 *
 * It goes to the first side of its mark, beginning below, where it covers no name, mark or line; if
 * there is none, to the first where it covers lines only, or lines and dots. Otherwise it is hidden
 * until the pointer is over the mark.
 */

const SIDES = [[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, 1], [1, -1], [-1, -1]];
const NAME = { size: 12, gap: 3, line: 1.15, largest: 1.7, along: 40 };
const measuring = document.createElement("canvas").getContext("2d");

function textWidth(text, size, weight) {
  measuring.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}

/** How much larger text must be drawn to be read in a drawing that is scaled down. */
function textZoom(host, width) {
  const scale = host.clientWidth ? width / host.clientWidth : 1;
  return Math.min(NAME.largest, Math.max(1, scale));
}

/**
 * A function that finds places for names, one after the other.
 * @param {[number, number]} size of the drawing.
 * @param marks centres `at` and radii `r` of all marks; names may cover a `small` one.
 * @param lines pairs of points.
 */
function nameFinder([width, height], marks, lines) {
  const around = ({ at: [x, y], r }) => [x - r, y - r, x + r, y + r];
  const taken = marks.filter(({ small }) => !small).map(around);
  const small = marks.filter((mark) => mark.small).map(around);
  const shares = Array.from({ length: NAME.along + 1 }, (_, at) => at / NAME.along);
  const dots = lines.flatMap(([p, q]) =>
    shares.map((share) => [0, 1].map((axis) => p[axis] + share * (q[axis] - p[axis]))));
  const tiers = [[true, true], [true, false], [false, false]];

  /** The place of a name relative to its mark; null if there is no space. */
  return (text, [x, y], r, size, { weight = 600, up = false } = {}) => {
    const [wide, high] = [textWidth(text, size, weight) + 2, size * NAME.line];
    const spots = (up ? [SIDES[1], SIDES[0], ...SIDES.slice(2)] : SIDES).map(([dx, dy]) => {
      const [cx, cy] = [dx * (wide / 2 + r + NAME.gap), dy * (high / 2 + r + NAME.gap)];
      return { x: cx, y: cy, box: [x + cx - wide / 2, y + cy - high / 2, x + cx + wide / 2, y + cy + high / 2] };
    });
    for (const [noDots, noLines] of tiers) {
      for (const spot of spots) {
        const [left, top, right, bottom] = spot.box;
        const inside = left >= 0 && top >= 0 && right <= width && bottom <= height;
        const free = inside && !taken.some((box) => overlap(box, spot.box)) &&
          !(noDots && small.some((box) => overlap(box, spot.box))) &&
          !(noLines && dots.some(([px, py]) => px > left && px < right && py > top && py < bottom));
        if (free) {
          taken.push(spot.box);
          return spot;
        }
      }
    }
    return null;
  };
}

function overlap([a, b, c, d], [e, f, g, h]) {
  return a < g && e < c && b < h && f < d;
}

/** A name at its place, or below its mark and hidden if it has none. */
function nameText(text, spot, r, size) {
  const { x, y } = spot ?? { x: 0, y: r + size };
  const name = shape("text", { class: spot ? "name" : "name unplaced", x, y }, text);
  name.style.fontSize = `${size}px`;
  return name;
}
