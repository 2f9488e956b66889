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
  const joints = jointsWithTarget(model, network.target, evidence.map(possibleStates));
  const targetStates = kindOf(network.target).states.length;
  const all = [...Array(targetStates).keys()];
  const kept = kindOf(network.target).facts.find(({ word }) => word === "kept").states;
  const facts = network.variables.map((_, at) =>
    kindOf(at).facts.map((fact) => {
      const p = joints ? mass(joints[at], fact.states, all, targetStates) : NaN;
      const held = joints ? mass(joints[at], fact.states, kept, targetStates) : NaN;
      return { ...fact, p, holdsIf: held / p };
    }),
  );
  return {
    possible: joints !== null,
    facts,
    holds: facts[network.target].find(({ word }) => word === "kept").p,
    known: (at) => Object.values(evidence[at]).filter(Boolean),
    asItWas: (at) => (facts[at].find(({ word }) => word === "kept") ?? facts[at][0]).p,
  };
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
