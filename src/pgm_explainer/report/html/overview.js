/*
 * The table of targets: search, filters, sort by column, and links to the explanations.
 *
 * `data` comes from overview.py. Rows are drawn a hundred at a time, so that a table of ten thousand
 * targets stays responsive.
 */

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const AT_ONCE = 100;
const FITS = 20;
const compare = new Intl.Collator(undefined, { numeric: true }).compare;
const VALUES = {
  target: (row) => row.target,
  class: (row) => row.class ?? "",
  probability: (row) => row.probability ?? -1,
  kept: (row) => row.kept ?? -1,
  effect: (row) => Math.abs(row.effect ?? 0),
  own: (row) => Math.abs(row.own ?? 0),
  other: (row) => Math.abs(row.otherEffect ?? 0),
  significant: (row) => row.significant,
  warnings: (row) => row.warnings.length + (row.error ? 1000 : 0),
};
const ASCENDING = new Set(["target", "class"]);
const FILTERS = {
  class: (row, wanted) => row.class === wanted,
  effect: (row, wanted) => wanted === (row.effect === null ? "none" : row.effect < 0 ? "falls" : "rises"),
  warning: (row, wanted) => ({
    failed: row.error !== null, warned: row.warnings.length > 0, fine: !row.error && !row.warnings.length,
  })[wanted],
};

const home = data.embedded ? URL.createObjectURL(new Blob([data.embedded], { type: "text/html" })) : null;
let page = 0;
const rows = data.rows.map(([
  target, ofClass, probability, kept, cause, effect, own, other, otherEffect, significant, warnings,
  error,
]) => ({
  target, probability, kept, cause, effect, own, other, otherEffect, significant, error,
  class: ofClass === null ? null : data.classes[ofClass],
  warnings: warnings.map((at) => data.warnings[at]),
  page: error === null ? page++ : null,
}));
for (const row of rows) {
  row.searched = `${row.target} ${row.class ?? ""} ${row.cause ?? ""} ${row.other ?? ""}`.toLowerCase();
}
let order = { column: "target", down: false };
let limit = AT_ONCE;

/** The address of an explanation; null if it has no page. */
function linkOf({ page: at }) {
  if (at === null || at >= data.pages) return null;
  const [file, place] = [Math.floor(at / data.perFile), at % data.perFile];
  return `${home ?? `${data.folder}/${file}.html`}#${place}`;
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function percent(share) {
  if (share === null) return "";
  if (share > 0 && share < 0.001) return "< 0.1%";
  return share > 0.999 && share < 1 ? "> 99.9%" : `${(100 * share).toFixed(1)}%`;
}

function effectText(cause, effect) {
  if (effect === null) return ["–"];
  const size = data.inPoints ? (100 * Math.abs(effect)).toFixed(1) : Math.abs(effect).toPrecision(2);
  const mark = element("i", { class: effect < 0 ? "key falls" : "key rises", "aria-hidden": "true" });
  return [mark, element("b", {}, `${effect < 0 ? "−" : "+"}${size}`), ` ${cause}`];
}

/** The effect of the target itself and of another part, or of any part if no target has its own. */
function effectCells(row) {
  const cell = (label, cause, effect) => element("td", { "data-label": label }, ...effectText(cause, effect));
  return data.hasOwn
    ? [cell("target itself", "", row.own), cell("largest other effect", row.other, row.otherEffect)]
    : [cell("largest effect", row.cause, row.effect)];
}

function drawRow(row) {
  const link = linkOf(row);
  const name = link ? element("a", { href: link }, row.target) : row.target;
  const cells = row.error !== null
    ? [element("td", { colspan: data.hasOwn ? 6 : 5 }, `failed: ${row.error}`)]
    : [
      element("td", { class: (row.class ?? "").length <= FITS ? "whole" : "" }, row.class ?? ""),
      element("td", { class: "number", "data-label": "probability" }, percent(row.probability)),
      element("td", { class: "number", "data-label": data.kept }, percent(row.kept)),
      ...effectCells(row),
      element("td", { class: "number", "data-label": "number of effects" }, String(row.significant)),
    ];
  const said = row.warnings.length ? [element("span", { class: "warned", title: row.warnings.join("\n") },
    String(row.warnings.length))] : [];
  return element("tr", {}, element("th", { scope: "row", class: row.target.length <= FITS ? "whole" : "" }, name), ...cells, element("td", { class: "number", "data-label": "warnings" }, ...said));
}

/** Draw the rows that match, in order. */
function arrange() {
  const wanted = $("search").value.trim().toLowerCase().replace(/\s+/g, " ");
  const chosen = Object.keys(FILTERS).filter((name) => $(name).value);
  const found = rows.filter((row) =>
    row.searched.includes(wanted) && chosen.every((name) => FILTERS[name](row, $(name).value)));
  const value = VALUES[order.column];
  const sign = order.down ? -1 : 1;
  // A target whose name is the search text comes first, then those whose names contain it.
  const rank = ({ target }) =>
    (!wanted || target.toLowerCase() === wanted ? 0 : target.toLowerCase().includes(wanted) ? 1 : 2);
  found.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const by = sign * (typeof x === "string" ? compare(x, y) : x - y);
    return rank(a) - rank(b) || by || compare(a.target, b.target);
  });
  $("rows").replaceChildren(...found.slice(0, limit).map(drawRow));
  $("count").textContent = `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} targets`;
  $("more").hidden = found.length <= limit;
  for (const head of document.querySelectorAll("#targets [data-column]")) {
    const here = head.dataset.column === order.column;
    head.setAttribute("aria-sort", here ? (order.down ? "descending" : "ascending") : "none");
  }
}

function renew() {
  limit = AT_ONCE;
  arrange();
}

function sortBy(column) {
  const again = column === order.column;
  order = { column, down: again ? !order.down : !ASCENDING.has(column) };
  renew();
}

for (const name of data.classes) $("class").append(element("option", { value: name }, name));
$("class").hidden = data.classes.length < 2;
$("search").oninput = renew;
/** Enter opens the first match. */
$("search").onkeydown = (event) => {
  if (event.key === "Enter") $("rows").querySelector("a")?.click();
};
for (const name of Object.keys(FILTERS)) $(name).onchange = renew;
for (const head of document.querySelectorAll("#targets [data-column]")) {
  head.querySelector("button").onclick = () => sortBy(head.dataset.column);
}
$("more").onclick = () => {
  const first = limit;
  limit += 10 * AT_ONCE;
  arrange();
  $("rows").children[first]?.querySelector("a")?.focus();
};
arrange();
