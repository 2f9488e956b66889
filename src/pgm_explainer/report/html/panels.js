/*
 * The panels that follow the evidence: the probability, the evidence, the most informative further
 * evidence, and the dialog that sets the evidence about a node.
 */

const ABOUT = { features: "Features", prediction: "Prediction" };
const MOST_INFORMATIVE = 6;
const CERTAIN = 1e-12;
const NOTICEABLE = 0.0005;
const FEW_SAMPLES = 5;
// As in the text: evidence with fewer samples is not listed.
const ENOUGH_SAMPLES = 20;

function paintHero({ possible, likelihood, holds }) {
  const { prior } = shown;
  const something = !hasNoEvidence();
  const points = 100 * (holds - prior);
  $("holds").textContent = possible ? percent(holds) : "–";
  $("holds").dataset.probability = holds;
  $("holds-bar").style.width = `${100 * (possible ? holds : 0)}%`;
  $("prior-mark").style.left = `${100 * prior}%`;
  const size = Math.abs(points).toFixed(1);
  const moves = possible && something && size !== "0.0";
  $("moved").textContent = moves ? `${points > 0 ? "+" : "−"}${size}` : "";
  $("against").textContent = something
    ? `${percent(prior)} without evidence`
    : "without evidence";
  const basis = possible && something ? basisOf(likelihood) : { few: false, text: "" };
  $("basis").textContent = basis.text;
  $("basis").classList.toggle("few", basis.few);
  $("impossible").hidden = possible;
  document.body.classList.toggle("impossible", !possible);
  $("undo").disabled = !shown.history.length;
  $("reset").disabled = !something;
  $("spoken").textContent = possible
    ? `The prediction is kept with probability ${percent(holds)}, ${$("against").textContent}. ` +
      basis.text
    : "";
}

function numSamples() {
  return Number(data.setups[shown.explanation.setup].settings.num_samples);
}

/** How often the evidence occurs among the samples, according to the network. */
function basisOf(likelihood) {
  const samples = numSamples();
  const like = likelihood * samples;
  const few = like < FEW_SAMPLES;
  const count = like < 1 ? "fewer than 1" : `about ${like.toFixed(like < 9.95 ? 1 : 0)}`;
  const often = `according to the network, this evidence occurs in ${count} of ${samples} samples.`;
  const text = few ? `Too few samples to rely on: ${often}` : often.replace("a", "A");
  return { few, text };
}

/** The evidence, each fact with a button that removes it. */
function paintKnown({ known }) {
  const { network } = shown.explanation;
  const chips = network.variables.flatMap(({ name, key }, at) =>
    known[at].map((word) => {
      const label = `Remove evidence: ${name} is ${word}`;
      const text = [element("b", {}, name), ` ${word} `];
      const chip = element("button", { type: "button", "aria-label": label }, ...text, cross());
      chip.onclick = () => {
        toggle(at, word);
        $("known").querySelector("button")?.focus();
      };
      return element("li", { "data-key": key }, chip);
    }),
  );
  const { noun } = shown.explanation;
  const where = `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun} or a bar of the network`;
  const nothing = element("li", { class: "nothing" }, `None. Click ${where} to add some.`);
  $("known").replaceChildren(...(chips.length ? chips : [nothing]));
}

function cross() {
  return element("span", { "aria-hidden": "true" }, "×");
}

/**
 * The single facts that would change the probability most in addition to the evidence, without
 * those that have too few samples.
 */
function paintInformative({ possible, likelihood, facts, holds }) {
  const { network } = shown.explanation;
  const enough = ENOUGH_SAMPLES / (likelihood * numSamples());
  const open = facts.flatMap((its, variable) =>
    its
      .filter(({ part, p, about }) =>
        part && p >= enough && p < 1 - CERTAIN &&
        !(variable === network.target && about === "prediction"))
      .map((fact) => ({ ...fact, variable, move: Math.abs(fact.holdsIf - holds) })),
  );
  open.sort((a, b) => b.move - a.move);
  const most = open.filter(({ move }) => move > NOTICEABLE).slice(0, MOST_INFORMATIVE);
  $("informative").replaceChildren(...most.map((fact) => informativeRow(fact, network, holds)));
  if (most.length) return;
  const why = possible
    ? "No further evidence with enough samples would change the probability."
    : "None, because the evidence is impossible.";
  $("informative").append(element("li", { class: "nothing" }, why));
}

function informativeRow({ variable, word, holdsIf }, network, holds) {
  const { name, key } = network.variables[variable];
  const [low, high] = [Math.min(holds, holdsIf), Math.max(holds, holdsIf)];
  const span = element("i", { class: holdsIf > holds ? "span up" : "span down" });
  span.style.left = `${100 * low}%`;
  span.style.width = `${100 * (high - low)}%`;
  const dot = element("i", { class: holdsIf > holds ? "dot up" : "dot down" });
  dot.style.left = `${100 * holdsIf}%`;
  const points = Math.abs(100 * (holdsIf - holds)).toFixed(1);
  const moved = data.phrases[holdsIf > holds ? "raises" : "lowers"].replace("{}", points);
  const row = element("button", { type: "button", title: `Add evidence: ${name} is ${word}` },
    element("span", { class: "fact" }, element("b", {}, name), element("span", {}, word)),
    element("span", { class: "line" }, span, dot),
    element("span", { class: "number" }, percent(holdsIf), element("small", {}, moved)));
  row.onclick = () => {
    toggle(variable, word);
    $("informative").querySelector("button")?.focus();
  };
  return element("li", { "data-key": key }, row);
}

/** Open the dialog of a variable, beside the node that was clicked. */
function openDialog(variable, beside) {
  const { name } = shown.explanation.network.variables[variable];
  const button = { type: "button", class: "close", "aria-label": "Close" };
  const close = element("button", button, cross());
  close.onclick = () => $("dialog").hidePopover();
  $("dialog").dataset.about = variable;
  $("dialog").replaceChildren(
    element("h3", { id: "dialog-title" }, name),
    close,
    ...["features", "prediction"].flatMap((about) => choices(variable, about)),
  );
  $("dialog").showPopover();
  moveBeside($("dialog"), beside.getBoundingClientRect());
  repaint();
  $("dialog").querySelector("input:checked").focus();
}

/** A choice among the facts about a variable's features or prediction, or none of them. */
function choices(variable, about) {
  const { title, means } = shown.explanation.network.variables[variable];
  const words = factsOf(variable).filter((fact) => fact.about === about);
  if (!words.length) return [];
  const options = [null, ...words.map(({ word }) => word)].map((word) => {
    const input = element("input", { type: "radio", name: about, value: word ?? "" });
    input.checked = shown.evidence[variable][about] === word;
    input.onchange = () => setEvidence(variable, about, word);
    const chance = element("small", { "data-word": word ?? "" });
    const text = word === "perturbed" && means ? `${word} (${means})` : word ?? "unknown";
    return element("label", {}, input, element("span", {}, text, chance));
  });
  const legend = about === "features" && title ? title : ABOUT[about];
  return [element("fieldset", {}, element("legend", {}, legend), ...options)];
}

function paintDialog({ facts, possible }) {
  if (!$("dialog").matches(":popover-open")) return;
  const variable = $("dialog").dataset.about;
  for (const chance of $("dialog").querySelectorAll("small")) {
    const fact = factOf(facts[variable], chance.dataset.word);
    chance.textContent = fact && possible ? percent(fact.p) : "";
  }
  for (const input of $("dialog").querySelectorAll("input")) {
    input.checked = (shown.evidence[variable][input.name] ?? "") === input.value;
  }
}

function moveBeside(box, { left, right, top }) {
  const room = document.documentElement.clientWidth;
  const width = box.offsetWidth;
  const fits = right + 10 + width <= room;
  const x = fits ? right + 10 : Math.max(8, left - 10 - width);
  box.style.left = `${Math.min(x, room - width - 8) + window.scrollX}px`;
  box.style.top = `${top + window.scrollY}px`;
}
