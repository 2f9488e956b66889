/*
 * Exact inference by variable elimination, as network/factors.py does it.
 *
 * A factor is a function of some variables: `scope` lists them, `values` runs through their states
 * with the last variable fastest. Evidence is, for each variable, null or which states can be.
 */

/** @typedef {{scope: number[], values: ArrayLike<number>}} Factor */
/** @typedef {{factors: Factor[], sizes: number[]}} Model */

/**
 * The factors of a network, from the tables that the page was given.
 * @returns {Model}
 */
function modelOf({ variables }, kinds) {
  const sizes = variables.map(({ kind }) => kinds[kind].states.length);
  const factors = variables.map(({ parents, rows }, at) => {
    const scope = [...parents, at];
    // Where a row is missing nothing was seen, and every state is as likely.
    const values = new Float64Array(product(scope, sizes)).fill(1 / sizes[at]);
    for (const [row, , ...chances] of rows) values.set(chances, row * sizes[at]);
    return { scope, values };
  });
  return { sizes, factors };
}

/** Multiply factors and sum out every variable that is not kept. @returns {Factor} */
function multiply(factors, keep, sizes) {
  const summed = [...new Set(factors.flatMap((factor) => factor.scope))].filter(
    (variable) => !keep.includes(variable),
  );
  const loop = [...keep, ...summed];
  const strides = factors.map((factor) => stridesOf(factor.scope, loop, sizes));
  const inner = product(summed, sizes);
  const values = new Float64Array(product(keep, sizes));
  const offsets = factors.map(() => 0);
  const state = loop.map(() => 0);
  for (let cell = 0, total = values.length * inner; cell < total; cell++) {
    let term = 1;
    for (let f = 0; f < factors.length && term; f++) term *= factors[f].values[offsets[f]];
    values[Math.floor(cell / inner)] += term;
    for (let at = loop.length - 1; at >= 0; at--) { // one step on, as an odometer goes
      const wraps = ++state[at] === sizes[loop[at]];
      const step = wraps ? 1 - state[at] : 1;
      for (let f = 0; f < factors.length; f++) offsets[f] += step * strides[f][at];
      if (!wraps) break;
      state[at] = 0;
    }
  }
  return { scope: keep, values };
}

/** How far a step of each variable in `loop` goes in the values of a factor; 0 if it has none. */
function stridesOf(scope, loop, sizes) {
  const strides = new Map();
  let stride = 1;
  for (const variable of [...scope].reverse()) {
    strides.set(variable, stride);
    stride *= sizes[variable];
  }
  return loop.map((variable) => strides.get(variable) ?? 0);
}

function product(variables, sizes) {
  return variables.reduce((size, variable) => size * sizes[variable], 1);
}

/** The unnormalised joint distribution of the variables in `keep`, given evidence. */
function eliminate({ factors, sizes }, keep, evidence) {
  let pool = [...factors];
  evidence.forEach((possible, variable) => {
    if (possible) pool.push({ scope: [variable], values: possible.map(Number) });
  });
  const waiting = new Set(sizes.keys());
  for (const variable of keep) waiting.delete(variable);
  while (waiting.size) {
    const next = cheapest(pool, waiting, sizes);
    const touched = pool.filter((factor) => factor.scope.includes(next));
    const scope = scopeWithout(touched, next);
    pool = pool.filter((factor) => !factor.scope.includes(next));
    pool.push(multiply(touched, scope, sizes));
    waiting.delete(next);
  }
  return multiply(pool, keep, sizes).values;
}

/** The variable whose elimination makes the smallest factor. */
function cheapest(pool, waiting, sizes) {
  let best = null;
  for (const variable of waiting) {
    const touched = pool.filter((factor) => factor.scope.includes(variable));
    const size = product(scopeWithout(touched, variable), sizes);
    if (best === null || size < best.size) best = { variable, size };
  }
  return best.variable;
}

function scopeWithout(factors, variable) {
  const scope = new Set(factors.flatMap((factor) => factor.scope));
  scope.delete(variable);
  return [...scope];
}

/**
 * For every variable, how likely each of its states goes together with each state of the target.
 * @returns {Float64Array[] | null} rows of target states; null if the evidence cannot happen.
 */
function jointsWithTarget(model, target, evidence) {
  const total = sum(eliminate(model, [target], evidence));
  if (!(total > 0)) return null;
  return model.sizes.map((states, variable) => {
    if (variable !== target) {
      return eliminate(model, [variable, target], evidence).map((value) => value / total);
    }
    const joint = new Float64Array(states * states); // with itself: only the diagonal can be
    eliminate(model, [target], evidence).forEach((value, state) => {
      joint[state * states + state] = value / total;
    });
    return joint;
  });
}

/** How likely a variable is in `own` states while the target is in `targets` states. */
function mass(joint, own, targets, targetStates) {
  return sum(own.map((state) => sum(targets.map((of) => joint[state * targetStates + of]))));
}

function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
