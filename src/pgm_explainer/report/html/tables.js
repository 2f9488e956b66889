/* The details below the drawings: each is filled when it is opened. */

/**
 * A table of strings or elements; `keys` are the nodes of its rows. It has explicit roles because
 * narrow panels change the layout of its rows.
 */
function table({ title, head, rows, keys = [] }) {
  const body = rows.map(([first, ...cells], at) =>
    element("tr", { role: "row", "data-key": keys[at] },
      element("th", { scope: "row", role: "rowheader" }, first),
      ...cells.map((cell, column) =>
        element("td", { role: "cell", "data-label": head[column + 1] }, cell))));
  const names = head.map((text) => element("th", { scope: "col", role: "columnheader" }, text));
  const whole = element("table", { role: "table" },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...names)),
    element("tbody", { role: "rowgroup" }, ...body));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": title };
  return element("div", region, whole);
}

function rankingDetails({ noun, ranking: { about, rows, unlisted } }) {
  const head = [noun, "Cramér's V", "log p", "statistic", "degrees of freedom", "significant",
    "in the network"];
  const cells = rows.map((row) => {
    const [, name, statistic, logP, strength, degrees, significant, selected] = row;
    const bar = element("i", { class: "strength" });
    bar.style.width = `${60 * (strength ?? 0)}px`;
    const size = element("span", { class: "sized" }, bar, fixed(strength, 2));
    return [name, size, fixed(logP, 1), fixed(statistic, 1), `${degrees}`,
      significant ? "yes" : "", selected ? "yes" : ""];
  });
  const parts = [paragraph(about), table({
    title: "Ranking by dependence", head, rows: cells, keys: rows.map(([key]) => key),
  })];
  if (unlisted) parts.push(paragraph(unlisted));
  return parts;
}

function fixed(value, digits) {
  return value === null ? "–" : value.toFixed(digits);
}

function paragraph(text) {
  return element("p", {}, text);
}

function tablesDetails({ network }, { kinds }) {
  if (!network) return [paragraph("There are no tables because there is no network.")];
  const parts = [element("p", { class: "formula" }, network.factorisation)];
  if (network.cliques) {
    return [...parts, ...network.cliques.flatMap((clique) => cliqueTable(clique, network, kinds))];
  }
  for (const variable of network.variables) {
    const parents = variable.parents.map((at) => network.variables[at]);
    const given = parents.map(({ name }) => name).join(", ");
    const title = `P(${variable.name}${given ? ` | ${given}` : ""})`;
    parts.push(element("h3", {}, title), ...conditionalTable(title, variable, parents, kinds));
  }
  return parts;
}

/** The probabilities of the joint states of a clique. */
function cliqueTable({ scope, rows, all }, network, kinds) {
  const variables = scope.map((at) => network.variables[at]);
  const names = variables.map(({ name }) => name);
  const title = `P(${names.join(", ")})`;
  const head = [...names, "probability", "samples"];
  const cells = rows.map(([at, seen, chance]) =>
    [...parentStates(at, variables, kinds), percent(chance), `${seen}`]);
  const hidden = all - rows.length;
  const note = `${hidden} of ${all} joint states are not listed: they are impossible in the network, ` +
    "or less likely than these.";
  return [element("h3", {}, title), table({ title, head, rows: cells }),
    ...(hidden ? [paragraph(note)] : [])];
}

/** The leaves of a decision tree. */
function treeTable(title, { leaves, kind }, kinds) {
  const head = ["if", ...kinds[kind].states, "samples"];
  const rows = leaves.map(([words, seen, ...chances]) => [words, ...chances.map(percent), `${seen}`]);
  return [table({ title, head, rows })];
}

/** The sampled rows of a table, and the number of other rows. */
function conditionalTable(title, variable, parents, kinds) {
  if (variable.noisyOr) return noisyOrTable(title, variable.noisyOr);
  if (variable.leaves) return treeTable(title, variable, kinds);
  const states = kinds[variable.kind].states;
  const head = [...parents.map(({ name }) => name), ...states, "samples"];
  const rows = variable.rows.map(([at, seen, ...chances]) => [
    ...parentStates(at, parents, kinds), ...chances.map(percent), `${seen}`,
  ]);
  const all = parents.reduce((count, { kind }) => count * kinds[kind].states.length, 1);
  const unseen = all - rows.length;
  const note = `${unseen} of ${all} combinations of the parents' states were never sampled; the ` +
    "network treats all states as equally likely there.";
  return [table({ title, head, rows }), ...(unseen ? [paragraph(note)] : [])];
}

/** The causes of a noisy-or and their probabilities. */
function noisyOrTable(title, { about, chances }) {
  const rows = chances.map(([text, chance]) => [text, percent(chance)]);
  return [paragraph(about), table({ title, head: ["cause", "probability of changing the prediction"], rows })];
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

function setupDetails(explanation, { setups }) {
  const { settings, versions, rule } = setups[explanation.setup];
  const answer = explanation.answer.map(([name, score]) => [name, fixed(score, 4)]);
  const made = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    element("h3", {}, "Model output on the unperturbed features"),
    table({ title: "Model output", head: ["output", "score"], rows: answer }),
    element("h3", {}, "Settings"),
    paragraph(rule),
    table({ title: "Settings", head: ["option", "value"], rows: Object.entries(settings) }),
    paragraph(`Made with ${made.join(", ")}. The same settings give the same explanation.`),
  ];
}
