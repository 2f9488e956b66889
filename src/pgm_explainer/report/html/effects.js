/* The effects of parts on the prediction, as a table with bars. */

const FITS_A_NAME = 18;

/** The panel of effects; every text comes from answers.py. */
function effectsContent({ caption, column, directions, bars, unclear, more, pairs }, noun) {
  const parts = [element("p", { class: "fine" }, caption)];
  const keys = { ...directions, "": "not significant" };
  if (bars.length) parts.push(barTable(noun, column, bars), directionLegend(keys, bars));
  if (unclear) parts.push(element("p", { class: "fine" }, unclear));
  if (more) parts.push(paragraph(more));
  if (pairs) parts.push(element("h3", {}, pairs.title), table(pairs));
  return parts;
}

/** A sentence from its parts: strings, and nodes that are highlighted together with the drawings. */
function sentence(parts) {
  return parts.map((part) =>
    Array.isArray(part) ? element("b", { "data-key": part[0] }, part[1]) : part);
}

/** The table, with explicit roles because small screens change the layout of its rows. */
function barTable(noun, column, bars) {
  const scale = scaleOf(bars.flatMap(({ numbers }) => numbers));
  const head = [noun, `${column}, with its 95% interval`].map((text) =>
    element("th", { scope: "col", role: "columnheader" }, text));
  const rows = bars.map((bar) => {
    const marks = [
      ...(bar.target ? [element("small", { class: "mark" }, "target")] : []),
      ...(bar.note ? [element("small", {}, bar.note)] : []),
    ];
    return element("tr", { role: "row", "data-key": bar.key },
      element("th", { scope: "row", role: "rowheader" },
        bar.name, ...marks.flatMap((mark) => [" ", mark])),
      element("td", { role: "cell" }, ...effectCell(bar, scale)));
  });
  const long = bars.some(({ name }) => name.length > FITS_A_NAME);
  return element("table", { class: long ? "bars long" : "bars", role: "table" },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...head)),
    element("tbody", { role: "rowgroup" }, ...rows));
}

/** A function that scales numbers to percent of their range, which always includes 0. */
function scaleOf(numbers) {
  const known = numbers.filter((each) => each !== null);
  const [low, high] = [Math.min(0, ...known), Math.max(0, ...known)];
  return (value) => (high > low ? (100 * (value - low)) / (high - low) : 50);
}

/** The bar with its interval, hidden from screen readers, and the numbers. */
function effectCell({ direction, numbers, effect, interval }, scale) {
  const [value, low, high] = numbers;
  const drawn = element("span", { class: "chart", "aria-hidden": "true" },
    spanned("zero", scale(0), scale(0)),
    spanned(`size ${direction || "none"}`, scale(Math.min(0, value)), scale(Math.max(0, value))),
    spanned("whisker", scale(low), scale(high)));
  return [drawn, element("b", {}, effect), " ", element("span", {}, interval)];
}

function spanned(kind, from, to) {
  const part = element("i", { class: kind });
  part.style.left = `${from}%`;
  part.style.width = `${to - from}%`;
  return part;
}

/** The meaning of the colours that occur. */
function directionLegend(directions, bars) {
  const there = Object.entries(directions).filter(([kind]) =>
    bars.some(({ direction }) => direction === kind));
  const items = there.map(([kind, text]) =>
    element("li", {}, element("i", { class: `key ${kind || "none"}` }), text));
  return element("ul", { class: "directions", "aria-hidden": "true" }, ...items);
}

function effectsDetails({ noun, effects }) {
  const head = [noun, effects.column, "95% interval", "strength", "p", "significant"];
  return rowsWith("All effects", head, effects);
}

function featuresDetails({ features }) {
  if (!features) return [];
  const numbers = [features.column, "95% interval", "strength", "p", "significant"];
  const head = ["feature", "node", "value", ...numbers];
  return rowsWith("All features", head, features);
}

/** The table of all effects, between what its columns mean and how many are not listed. */
function rowsWith(title, head, { about, rows, unlisted }) {
  const keys = rows.map(([key]) => key);
  const parts = [paragraph(about), table({ title, head, rows: rows.map(([, ...cells]) => cells), keys })];
  if (unlisted) parts.push(paragraph(unlisted));
  return parts;
}
