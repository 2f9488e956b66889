/* The details under the pictures: each is made when it is first opened. */

/** A table from a header and rows of texts or elements; `keys` name the nodes of the rows. */
function table(caption, header, rows, keys = []) {
  const body = rows.map((cells, at) =>
    element("tr", { "data-key": keys[at] }, ...cells.map((cell) => element("td", {}, cell))),
  );
  const head = element("tr", {}, ...header.map((text) => element("th", { scope: "col" }, text)));
  const whole = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": caption };
  return element("div", region, whole);
}

/** The ranking; the reach of nodes is told where it counts. */
function rankingDetails({ ranking }) {
  const weighed = (cell) => (ranking.weighed ? [cell] : []);
  const header = ["", "node", "effect", ...weighed("reach"), "log p", "statistic", "degrees",
    "in the explanation"];
  const rows = ranking.rows.map((row, at) => {
    const [, name, statistic, logP, effect, reach, degrees, significant, selected] = row;
    const bar = element("i", { class: "effect" });
    bar.style.width = `${60 * (effect ?? 0)}px`;
    const size = element("span", { class: "sized" }, bar, fixed(effect, 2));
    const verdict = selected ? "yes" : significant ? "significant" : "";
    const evidence = [fixed(logP, 1), fixed(statistic, 1), `${degrees}`];
    return [`${at + 1}`, name, size, ...weighed(fixed(reach, 2)), ...evidence, verdict];
  });
  const parts = [
    paragraph("Every node that could matter, the most dependent first. log p is the natural " +
      "logarithm of the p-value of independence: the lower, the surer is the dependence." +
      weighed(" It counts in proportion to a node's reach, which is how much of what the target " +
        "hears the node can send.").join("")),
    table("The ranking", header, rows, ranking.rows.map(([key]) => key)),
  ];
  const more = ranking.of - rows.length;
  if (more > 0) parts.push(paragraph(`${more} further candidates are not listed.`));
  return parts;
}

function fixed(value, digits) {
  return value === null ? "–" : value.toFixed(digits);
}

function paragraph(text) {
  return element("p", {}, text);
}

function tablesDetails({ network }, { kinds }) {
  if (!network) return [paragraph("There is no network, so there are no tables.")];
  const parts = [element("p", { class: "formula" }, network.factorisation)];
  for (const variable of network.variables) {
    const parents = variable.parents.map((at) => network.variables[at]);
    const given = parents.map(({ name }) => name).join(", ");
    const title = `P(${variable.name}${given ? ` | ${given}` : ""})`;
    parts.push(element("h3", {}, title), ...conditionalTable(title, variable, parents, kinds));
  }
  return parts;
}

/** The rows of a table that tell something; the others are counted. */
function conditionalTable(title, variable, parents, kinds) {
  const states = kinds[variable.kind].states;
  const header = [...parents.map(({ name }) => name), ...states, "samples"];
  const rows = variable.rows.map(([at, seen, ...chances]) => [
    ...parentStates(at, parents, kinds), ...chances.map(percent), `${seen}`,
  ]);
  const all = parents.reduce((count, { kind }) => count * kinds[kind].states.length, 1);
  const unseen = all - rows.length;
  const note = `${unseen} of ${all} combinations of the parents were never sampled; the network ` +
    "takes every state to be as likely there.";
  return [table(title, header, rows), ...(unseen ? [paragraph(note)] : [])];
}

function parentStates(configuration, parents, kinds) {
  const names = [];
  for (const parent of [...parents].reverse()) {
    const { states } = kinds[parent.kind];
    names.unshift(states[configuration % states.length]);
    configuration = Math.floor(configuration / states.length);
  }
  return names;
}

function wordsDetails({ words }) {
  return [element("pre", { tabindex: 0 }, words)];
}

function makingDetails(explanation, { makings }) {
  const { settings, versions } = makings[explanation.making];
  const answer = explanation.answer.map(([name, score]) => [name, fixed(score, 4)]);
  const made = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    element("h3", {}, "The model's answer on the unperturbed features"),
    table("The model's answer", ["of", "score"], answer),
    element("h3", {}, "Settings"),
    table("Settings", ["option", "value"], Object.entries(settings)),
    paragraph(`Made with ${made.join(", ")}. The same settings give the same explanation.`),
  ];
}
