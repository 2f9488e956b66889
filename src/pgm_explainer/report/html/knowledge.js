/*
 * What is known of the variables in view, and what the network makes of it.
 *
 * `data` is what payload.py told, and `shown` is all that ever changes: the explanation in view,
 * what is known of its variables (`evidence`) and what was known before (`history`).
 */

const $ = (id) => document.getElementById(id);
const data = JSON.parse(document.getElementById("data").textContent);
let shown = null;

/** What the network says, given what is known. */
function beliefsNow() {
  const { explanation: { network }, evidence, model } = shown;
  const kindOf = (at) => data.kinds[network.variables[at].kind];
  const possible = evidence.map(possibleStates);
  const now = marginalsOf(model, possible);
  const kept = factOf(kindOf(network.target), "kept").states;
  const ifKept = marginalsOf(model, possible.with(network.target, kindOf(network.target).states.map(
    (_, state) => kept.includes(state) && (possible[network.target]?.[state] ?? true),
  )));
  const chance = (marginals, at, { states }) => sum(states.map((state) => marginals[at][state]));
  const holds = now ? chance(now, network.target, { states: kept }) : NaN;
  const facts = network.variables.map((_, at) =>
    kindOf(at).facts.map((fact) => {
      const p = now ? chance(now, at, fact) : NaN;
      const andHolds = ifKept ? holds * chance(ifKept, at, fact) : 0;
      return { ...fact, p, holdsIf: andHolds / p };
    }),
  );
  return {
    possible: now !== null,
    facts,
    holds,
    known: (at) => Object.values(evidence[at]).filter(Boolean),
    asItWas: (at) => (facts[at].find(({ word }) => word === "kept") ?? facts[at][0]).p,
  };
}

function factOf({ facts }, wanted) {
  return facts.find(({ word }) => word === wanted);
}

/** Which states of a variable agree with what is known of it; null if nothing is. */
function possibleStates({ features, prediction }, variable) {
  const { states, facts } = data.kinds[shown.explanation.network.variables[variable].kind];
  const said = facts.filter(({ word }) => word === features || word === prediction);
  if (!said.length) return null;
  return states.map((_, state) => said.every((fact) => fact.states.includes(state)));
}

/** State a fact of a variable, or take it back if it was stated. */
function toggle(variable, word) {
  const { kind } = shown.explanation.network.variables[variable];
  const { about } = data.kinds[kind].facts.find((fact) => fact.word === word);
  state(variable, about, shown.evidence[variable][about] === word ? null : word);
}

function state(variable, about, word) {
  shown.history.push(structuredClone(shown.evidence));
  shown.evidence[variable][about] = word;
  repaint();
}

function undo() {
  shown.evidence = shown.history.pop() ?? shown.evidence;
  repaint();
}

function reset() {
  if (shown.evidence.some(({ features, prediction }) => features || prediction)) {
    shown.history.push(shown.evidence);
  }
  shown.evidence = shown.evidence.map(() => ({ features: null, prediction: null }));
  repaint();
}
