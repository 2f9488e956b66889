/*
 * Drawing helpers. Text enters the document only as text nodes, never as markup.
 *
 * Elements that represent the same node share a `data-key`, so that pointing at one highlights all.
 * Clickable elements have the number of their variable as `data-variable`.
 */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element with attributes and children; strings become text nodes. */
function element(tag, attributes = {}, ...children) {
  return withAttributes(document.createElement(tag), attributes, children);
}

/** An SVG element with attributes and children. */
function shape(tag, attributes = {}, ...children) {
  return withAttributes(document.createElementNS(SVG, tag), attributes, children);
}

function withAttributes(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function percent(probability) {
  return `${(100 * probability).toFixed(1)}%`;
}

function shortened(name, most) {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

function canvas(width, height, label) {
  const view = `0 0 ${Math.round(width)} ${Math.round(height)}`;
  return shape("svg", { viewBox: view, width, height, role: "group", "aria-label": label });
}

function makeButton(group, variable) {
  group.setAttribute("role", "button");
  group.setAttribute("tabindex", "-1");
  group.dataset.variable = variable;
}

/** The label of a variable for screen readers. */
function spoken(name, variable, beliefs) {
  const known = beliefs.known[variable];
  const facts = beliefs.facts[variable].map(({ word, p }) => `${word} ${percent(p)}`);
  const state = known.length ? `evidence: ${known.join(" and ")}` : "no evidence";
  return `${name}: ${state}; ${beliefs.possible ? facts.join(", ") : "impossible"}`;
}
