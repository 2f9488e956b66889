/*
 * What is known of the variables in view, and what the network makes of it.
 *
 * `data` is what payload.py made, and `shown` is all that ever changes: the explanation in view,
 * what is known of its variables (`evidence`) and what was known before (`history`).
 */

const $ = (id) => document.getElementById(id);
const data = JSON.parse(document.getElementById("data").textContent);
let shown = null;

/** What the network says, given what is known. */
function beliefsNow() {
  const { explanation: { network: { target, variables } }, evidence, model } = shown;
  const known = variables.map((_, at) => Object.values(evidence[at]).filter(Boolean));
  const possible = known.map(possibleStates);
  const { likelihood, marginals: now } = askNetwork(model, possible);
  const { marginals: ifHolds } = askNetwork(
    model, possible.with(target, possibleStates([...known[target], "kept"], target)),
  );
  const chance = (marginals, at, { states }) => sum(states.map((state) => marginals[at][state]));
  const holds = now ? chance(now, target, factOf(factsOf(target), "kept")) : NaN;
  const facts = variables.map((_, at) =>
    factsOf(at).map((fact) => {
      const p = now ? chance(now, at, fact) : NaN;
      const both = ifHolds ? holds * chance(ifHolds, at, fact) : 0;
      return { ...fact, p, holdsIf: both / p };
    }),
  );
  return { possible: now !== null, likelihood, known, facts, holds };
}

/** All that can be said of a variable in view. */
function factsOf(variable) {
  return data.kinds[shown.explanation.network.variables[variable].kind].facts;
}

function factOf(facts, wanted) {
  return facts.find(({ word }) => word === wanted);
}

/** Which states of a variable agree with all that is said of it; null if nothing is. */
function possibleStates(words, variable) {
  const { states } = data.kinds[shown.explanation.network.variables[variable].kind];
  const said = words.map((word) => factOf(factsOf(variable), word));
  if (!said.length) return null;
  return states.map((_, state) => said.every((fact) => fact.states.includes(state)));
}

function nothingKnown() {
  return shown.evidence.every(({ features, prediction }) => !features && !prediction);
}

/** State a fact of a variable, or take it back if it was stated. */
function toggle(variable, word) {
  const { about } = factOf(factsOf(variable), word);
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
  if (!nothingKnown()) shown.history.push(shown.evidence);
  shown.evidence = shown.evidence.map(() => ({ features: null, prediction: null }));
  repaint();
}
