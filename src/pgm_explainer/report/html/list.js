/* The list of explanations, with search and sort. */

const ORDERS = {
  given: () => 0,
  target: (a, b) => a.target.localeCompare(b.target, undefined, { numeric: true }),
  class: (a, b) => (a.class ?? "").localeCompare(b.class ?? "", undefined, { numeric: true }),
  probability: (a, b) => (b.probability ?? 0) - (a.probability ?? 0),
  held: (a, b) => b.held - a.held,
  found: (a, b) => b.explaining.length - a.explaining.length,
};

function entry(explanation, at) {
  const bar = element("i");
  bar.style.width = `${100 * explanation.held}%`;
  const told = [explanation.class, `held ${percent(explanation.held)}`].filter(Boolean).join(" · ");
  const button = element("button", { type: "button" },
    element("b", {}, explanation.target),
    element("small", {}, told),
    element("span", { class: "track" }, bar));
  button.onclick = () => pick(at);
  const searched = `${explanation.target} ${explanation.class ?? ""}`.toLowerCase();
  return { item: element("li", {}, button), button, explanation, at, searched };
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
  const wanted = $("search").value.trim().toLowerCase().split(/\s+/);
  const order = ORDERS[$("sort").value];
  const found = entries.filter(({ searched }) => wanted.every((word) => searched.includes(word)));
  found.sort((a, b) => order(a.explanation, b.explanation) || a.at - b.at);
  if ($("reverse").getAttribute("aria-pressed") === "true") found.reverse();
  $("entries").replaceChildren(...found.map(({ item }) => item));
  $("count").textContent = `${found.length} of ${entries.length} explanations`;
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
