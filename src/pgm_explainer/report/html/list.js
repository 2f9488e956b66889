/* The list of explanations, with search and sort. */

const ORDERS = {
  given: () => 0,
  target: (a, b) => a.target.localeCompare(b.target, undefined, { numeric: true }),
  class: (a, b) => (a.class ?? "").localeCompare(b.class ?? "", undefined, { numeric: true }),
  probability: (a, b) => (b.probability ?? 0) - (a.probability ?? 0),
  held: (a, b) => b.stability - a.stability,
  found: (a, b) => b.found - a.found,
};

function entry(explanation, at) {
  const bar = element("i");
  const { probability, stability, stable, found, noun, warnings } = explanation;
  bar.style.width = `${100 * stability}%`;
  const chance = probability === null ? "" : `p ${percent(probability)} · `;
  const nodes = `${found} ${found === 1 ? noun : `${noun}s`}`;
  // Every number that the list can be sorted by is shown in full.
  const button = element("button", { type: "button" },
    element("b", { title: explanation.target }, explanation.target),
    element("small", {}, ...(warnings.length ? [warningMark(warnings)] : []), nodes),
    element("small", {}, explanation.class ?? ""),
    element("small", {}, `${chance}${stable} ${percent(stability)}`),
    element("span", { class: "track" }, bar));
  button.onclick = () => pick(at);
  const searched = `${explanation.target} ${explanation.class ?? ""}`.toLowerCase();
  return { item: element("li", {}, button), button, explanation, at, searched };
}

function warningMark(warnings) {
  const about = { class: "warned", role: "img", title: warnings.join("\n") };
  return element("span", { ...about, "aria-label": "with warnings" });
}

const entries = data.explanations.length > 1 ? data.explanations.map(entry) : [];

function pick(at) {
  show(at);
  for (const each of entries) {
    if (each.at === at) each.button.setAttribute("aria-current", "true");
    else each.button.removeAttribute("aria-current");
  }
}

function arrange() {
  // Matched as one phrase: as separate words, the 1 of "class 1" would also match node 10.
  const wanted = $("search").value.trim().toLowerCase().replace(/\s+/g, " ");
  const order = ORDERS[$("sort").value];
  const found = entries.filter(({ searched }) => searched.includes(wanted));
  found.sort((a, b) => order(a.explanation, b.explanation) || a.at - b.at);
  if ($("reverse").getAttribute("aria-pressed") === "true") found.reverse();
  $("entries").replaceChildren(...found.map(({ item }) => item));
  $("count").textContent = `${found.length} of ${entries.length} explanations`;
}

/** Enter opens the first match. */
function onSearchKey(event) {
  if (event.key === "Enter") $("entries").querySelector("button")?.click();
}

function onEntryKey(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...$("entries").querySelectorAll("button")];
  buttons[buttons.indexOf(event.target) + step]?.focus();
  event.preventDefault();
}

function reverse() {
  const now = $("reverse").getAttribute("aria-pressed") !== "true";
  $("reverse").setAttribute("aria-pressed", now);
  $("reverse").textContent = now ? "↑" : "↓";
  arrange();
}
