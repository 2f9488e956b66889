/*
 * The evidence, and the probabilities that follow from it.
 *
 * `data` comes from payload.py. `shown` is the only mutable state: the current explanation, the
 * evidence about its variables, and the earlier evidence (`history`) for undo.
 */

const $ = (id) => document.getElementById(id);
const data = JSON.parse(document.getElementById("data").textContent);
let shown = null;

/** The probabilities given the evidence. */
function beliefsNow() {
  const { explanation: { network: { target, variables } }, evidence, model } = shown;
  const known = variables.map((_, at) => Object.values(evidence[at]).filter(Boolean));
  const possible = known.map(possibleStates);
  const { likelihood, marginals: now } = queryNetwork(model, possible);
  const { marginals: ifHolds } = queryNetwork(
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

/** All facts that can be evidence about a variable. */
function factsOf(variable) {
  return data.kinds[shown.explanation.network.variables[variable].kind].facts;
}

function factOf(facts, wanted) {
  return facts.find(({ word }) => word === wanted);
}

/** Which states of a variable agree with the evidence about it; null without evidence. */
function possibleStates(words, variable) {
  const { states } = data.kinds[shown.explanation.network.variables[variable].kind];
  const said = words.map((word) => factOf(factsOf(variable), word));
  if (!said.length) return null;
  return states.map((_, state) => said.every((fact) => fact.states.includes(state)));
}

function hasNoEvidence() {
  return shown.evidence.every(({ features, prediction }) => !features && !prediction);
}

/** Add a fact as evidence, or remove it if it is set. */
function toggle(variable, word) {
  const { about } = factOf(factsOf(variable), word);
  setEvidence(variable, about, shown.evidence[variable][about] === word ? null : word);
}

function setEvidence(variable, about, word) {
  shown.history.push(structuredClone(shown.evidence));
  shown.evidence[variable][about] = word;
  repaint();
}

function undo() {
  shown.evidence = shown.history.pop() ?? shown.evidence;
  repaint();
}

function reset() {
  if (!hasNoEvidence()) shown.history.push(shown.evidence);
  shown.evidence = shown.evidence.map(() => ({ features: null, prediction: null }));
  repaint();
}
