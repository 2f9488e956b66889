/*
 * Exact inference by variable elimination, for all variables at once.
 *
 * A factor is a function of some variables: `scope` lists them, `values` has an entry for each joint
 * state, with the last variable varying fastest. Evidence is, for each variable, null or the possible states.
 *
 * Eliminating a variable collects the factors that contain it in a bucket and sends a message
 * about its neighbours, the `separator`, to the next bucket that contains them. The buckets form a
 * tree. Messages go up the tree and then down again; together they give the probabilities of the
 * variable of each bucket.
 *
 * A noisy-or is a sum of two products of small factors. A network with one is the sum of two such
 * trees, which Model calls terms.
 *
 * Markov and dependency networks come with factors whose product is their joint distribution. If that
 * has too many states, a dependency network comes with draws, and probabilities are frequencies.
 */

/** @typedef {{scope: number[], values: Float64Array}} Factor */
/** @typedef {{variable: number, separator: number[], parent: number, factors: Factor[]}} Bucket */
/** @typedef {{states: number[][], counts: number[], total: number}} Draws */
/** @typedef {{sizes: number[], terms?: Bucket[][], draws?: Draws}} Model */

/**
 * A network ready for queries, from the tables that the page was given.
 * @returns {Model}
 */
function modelOf({ variables, factors, draws }, kinds) {
  const sizes = variables.map(({ kind }) => kinds[kind].states.length);
  if (draws) return { sizes, draws: drawsOf(draws) };
  if (factors) return { sizes, terms: [bucketsOf(factors.map(factorOf), sizes)] };
  let terms = [[]];
  variables.forEach((variable, at) => {
    const choices = variable.noisyOr ? noisyOrTerms(variable, at) : [[tableOf(variable, at, sizes)]];
    terms = terms.flatMap((factors) => choices.map((choice) => [...factors, ...choice]));
  });
  return { sizes, terms: terms.map((factors) => bucketsOf(factors, sizes)) };
}

function factorOf({ scope, values }) {
  return { scope, values: Float64Array.from(values) };
}

/** Distinct draws from the joint distribution: the state of each variable, and how often. */
function drawsOf([words, counts]) {
  const states = words.map((word) => Array.from(word, (sign) => sign.charCodeAt(0) - 48));
  return { states, counts, total: sum(counts) };
}

/** P(state | parents) = constant + product * P(no parent changes the prediction). */
function noisyOrTerms({ parents, noisyOr: { constant, product: weights, holds } }, at) {
  const unary = parents.map((parent, which) =>
    ({ scope: [parent], values: Float64Array.from(holds[which]) }));
  return [
    [{ scope: [at], values: Float64Array.from(constant) }],
    [{ scope: [at], values: Float64Array.from(weights) }, ...unary],
  ];
}

function tableOf({ parents, rows }, at, sizes) {
  const scope = [...parents, at];
  // Missing rows were never sampled: their states are equally likely.
  const values = new Float64Array(product(scope, sizes)).fill(1 / sizes[at]);
  for (const [row, , ...chances] of rows) values.set(chances, row * sizes[at]);
  return { scope, values };
}

/** @returns {Bucket[]} */
function bucketsOf(factors, sizes) {
  const buckets = eliminationOrder(factors, sizes);
  const turn = new Map(buckets.map(({ variable }, at) => [variable, at]));
  const first = (scope) => Math.min(...scope.map((variable) => turn.get(variable)));
  for (const bucket of buckets) {
    bucket.parent = bucket.separator.length ? first(bucket.separator) : -1;
  }
  for (const factor of factors) buckets[first(factor.scope)].factors.push(factor);
  return buckets;
}

/** Eliminate next the variable that leaves the smallest message. */
function eliminationOrder(factors, sizes) {
  const near = sizes.map(() => new Set());
  const join = (scope) => scope.forEach((one) => scope.forEach((other) => near[one].add(other)));
  for (const { scope } of factors) join(scope);
  near.forEach((others, variable) => others.delete(variable));
  const waiting = new Set(sizes.keys());
  const cost = (variable) => product([...near[variable]], sizes);
  const buckets = [];
  while (waiting.size) {
    const variable = [...waiting].reduce((best, each) => (cost(each) < cost(best) ? each : best));
    const separator = [...near[variable]];
    join(separator);
    for (const other of separator) {
      near[other].delete(other);
      near[other].delete(variable);
    }
    waiting.delete(variable);
    buckets.push({ variable, separator, factors: [] });
  }
  return buckets;
}

/** Multiply factors and sum out every variable that is not kept. @returns {Factor} */
function multiply(factors, keep, sizes) {
  const scope = new Set(factors.flatMap((factor) => factor.scope));
  const summed = [...scope].filter((variable) => !keep.includes(variable));
  const loop = [...keep, ...summed];
  const tables = factors.map(({ values }) => values);
  const strides = factors.map((factor) => stridesOf(factor.scope, loop, sizes));
  const offsets = new Int32Array(factors.length);
  const state = new Int32Array(loop.length);
  const inner = product(summed, sizes);
  const values = new Float64Array(product(keep, sizes));
  for (let cell = 0; cell < values.length; cell++) {
    let total = 0;
    for (let step = 0; step < inner; step++) {
      let term = 1;
      for (let f = 0; f < tables.length; f++) term *= tables[f][offsets[f]];
      total += term;
      advance(state, offsets, strides, loop, sizes);
    }
    values[cell] = total;
  }
  return { scope: keep, values };
}

/** Advance to the next joint state, like an odometer, and update the offset in each table. */
function advance(state, offsets, strides, loop, sizes) {
  for (let at = loop.length - 1; at >= 0; at--) {
    const wraps = state[at] + 1 === sizes[loop[at]];
    const step = wraps ? -state[at] : 1;
    state[at] += step;
    for (let f = 0; f < offsets.length; f++) offsets[f] += step * strides[f][at];
    if (!wraps) return;
  }
}

/** How far a step of each variable in `loop` goes in the values of a factor; 0 if it has none. */
function stridesOf(scope, loop, sizes) {
  const strides = new Map();
  let stride = 1;
  for (const variable of [...scope].reverse()) {
    strides.set(variable, stride);
    stride *= sizes[variable];
  }
  return Int32Array.from(loop, (variable) => strides.get(variable) ?? 0);
}

function product(variables, sizes) {
  return variables.reduce((size, variable) => size * sizes[variable], 1);
}

/**
 * The marginals of all variables given the evidence, and the probability of the evidence.
 * @returns {{likelihood: number, marginals: Float64Array[] | null}} null for impossible evidence.
 */
function queryNetwork({ sizes, terms, draws }, evidence) {
  if (draws) return countDraws(draws, sizes, evidence);
  const answers = terms.map((buckets) => queryTerm(buckets, sizes, evidence));
  const likelihood = answers.reduce((total, answer) => total + answer.likelihood, 0);
  if (!(likelihood > 0)) return { likelihood: 0, marginals: null };
  const marginals = sizes.map((_, variable) => {
    const [first, ...rest] = answers.map((answer) => answer.marginals[variable]);
    const totals = first.map((value, at) => rest.reduce((sum, other) => sum + other[at], value));
    return normalised(totals.map((value) => Math.max(value, 0)));
  });
  return { likelihood, marginals };
}

/** The frequencies of all states among the draws that agree with the evidence. */
function countDraws({ states, counts, total }, sizes, evidence) {
  const marginals = sizes.map((size) => new Float64Array(size));
  let agreeing = 0;
  states.forEach((drawn, at) => {
    if (!drawn.every((state, variable) => !evidence[variable] || evidence[variable][state])) return;
    agreeing += counts[at];
    drawn.forEach((state, variable) => { marginals[variable][state] += counts[at]; });
  });
  if (!agreeing) return { likelihood: 0, marginals: null };
  return { likelihood: agreeing / total, marginals: marginals.map(normalised) };
}

/** The contribution of one term to the probability of the evidence and to each marginal. */
function queryTerm(buckets, sizes, evidence) {
  const own = buckets.map(({ variable, factors }) => {
    const possible = evidence[variable];
    const allowed = possible && { scope: [variable], values: Float64Array.from(possible) };
    return possible ? [...factors, allowed] : factors;
  });
  const children = buckets.map(() => []);
  const up = [];
  buckets.forEach(({ separator, parent }, at) => {
    up.push(multiply([...own[at], ...children[at].map((child) => up[child])], separator, sizes));
    if (parent >= 0) children[parent].push(at);
  });
  const roots = [...buckets.keys()].filter((at) => buckets[at].parent < 0);
  const shares = new Map(roots.map((at) => [at, up[at].values[0]]));
  const likelihood = roots.reduce((chance, at) => chance * shares.get(at), 1);
  const down = buckets.map(() => []);
  const rootOf = [];
  const marginals = [];
  for (let at = buckets.length - 1; at >= 0; at--) {
    const { variable, separator, parent } = buckets[at];
    const known = (bucket, but) => [...own[bucket], ...down[bucket],
      ...children[bucket].filter((child) => child !== but).map((child) => up[child])];
    if (parent >= 0) down[at] = [multiply(known(parent, at), separator, sizes)];
    rootOf[at] = parent >= 0 ? rootOf[parent] : at;
    // Other trees contribute only the probability of their evidence.
    const elsewhere = roots.reduce((chance, root) =>
      (root === rootOf[at] ? chance : chance * shares.get(root)), 1);
    marginals[variable] = multiply(known(at), [variable], sizes).values
      .map((value) => value * elsewhere);
  }
  return { likelihood, marginals };
}

function normalised(values) {
  const total = sum(values);
  return values.map((value) => value / total);
}

function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
