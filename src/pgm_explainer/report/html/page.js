/* User actions: pick an explanation, point at a node, set evidence. */

const FITS_A_COLUMN = 700;
const TALL = 700;

/** Show an explanation, without evidence. */
function show(at) {
  const explanation = data.explanations[at];
  const { network } = explanation;
  const variables = network ? network.variables : [];
  shown = {
    explanation,
    model: network && modelOf(network, data.kinds),
    evidence: variables.map(() => ({ features: null, prediction: null })),
    history: [],
    drawings: [],
  };
  shown.prior = network && beliefsNow().holds;
  document.title = explanation.headline;
  $("headline").textContent = explanation.headline;
  $("figures").replaceChildren(...explanation.figures.map(([value, caption]) =>
    element("li", {}, element("strong", {}, value), ` ${caption}`)));
  $("kept").textContent = explanation.kept;
  $("lead").replaceChildren(...explanation.lead.map((each) =>
    element("p", {}, ...sentence(each))));
  $("meaning").textContent = data.setups[explanation.setup].meaning;
  $("warnings").replaceChildren(
    ...explanation.warnings.map((text) => element("li", {}, `Warning: ${text}.`)),
  );
  $("changes").replaceChildren(...effectsContent(explanation.effects, explanation.noun));
  for (const id of ["features-panel", "all-features"]) $(id).hidden = !explanation.features;
  $("features").replaceChildren(
    ...(explanation.features ? effectsContent(explanation.features, "feature") : []));
  $("along").replaceChildren(...sentence(explanation.effects.along));
  $("left-out").replaceChildren(...explanation.effects.leftOut.flatMap(sentence));
  drawAll(explanation);
  renewDetails(explanation);
  if ($("dialog").matches(":popover-open")) $("dialog").hidePopover();
  repaint();
}

function drawAll(explanation) {
  const { picture, network } = explanation;
  const around = drawPicture(picture, network);
  $("picture").replaceChildren(around.svg);
  $("around-title").textContent = picture.title;
  $("picture-legend").replaceChildren(...pictureLegend(picture, explanation.effects, around.unnamed));
  shown.drawings = [around];
  for (const id of ["hero", "informative-panel"]) $(id).hidden = !network;
  $("network-title").textContent = network ? network.title : "Network";
  $("network-legend").textContent = network ? [network.legend, ...network.confidence].join(" ") : "";
  $("tables").firstElementChild.textContent = network ? network.tables : "Tables";
  const cards = network && drawNetwork(network, data.kinds);
  if (cards) shown.drawings.push(cards);
  $("network").replaceChildren(cards ? cards.svg : paragraph(explanation.noNetwork));
  arrangePanels(around, cards);
  for (const { svg } of shown.drawings) {
    svg.querySelector("[data-variable]")?.setAttribute("tabindex", "0");
  }
}

/** Place the panels by the size of their content. */
function arrangePanels(around, cards) {
  const wide = cards !== null && cards.width > FITS_A_COLUMN;
  const classes = {
    "no-network": !cards,
    "wide-picture": around.width > FITS_A_COLUMN,
    "long-effects": heightOf("changes") > heightOf("picture", "picture-legend"),
    wide,
    tall: cards !== null && !wide && cards.height > TALL,
  };
  for (const [name, on] of Object.entries(classes)) document.body.classList.toggle(name, on);
}

function heightOf(...ids) {
  return ids.reduce((height, id) => height + $(id).offsetHeight, 0);
}

function renewDetails(explanation) {
  const makers = {
    effects: effectsDetails, "all-features": featuresDetails, ranking: rankingDetails,
    tables: tablesDetails, words: wordsDetails, setup: setupDetails,
  };
  for (const [id, make] of Object.entries(makers)) {
    const fill = () => $(id).lastElementChild.replaceChildren(...make(explanation, data));
    $(id).ontoggle = () => $(id).open && fill();
    if ($(id).open) fill();
  }
}

function repaint() {
  if (!shown.model) return;
  const beliefs = beliefsNow();
  for (const drawing of shown.drawings) drawing.paint(beliefs);
  paintHero(beliefs);
  paintKnown(beliefs);
  paintInformative(beliefs);
  paintDialog(beliefs);
}

/** Highlight everything that represents the same nodes. */
function highlight(event) {
  const keys = event.target.closest?.("[data-key]")?.dataset.key.split(" ") ?? [];
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (event.type === "pointerout" || event.type === "focusout") return;
  for (const key of keys) {
    for (const one of document.querySelectorAll(`[data-key~="${key}"]`)) one.classList.add("lit");
  }
}

function onDrawingClick(event) {
  const node = event.target.closest("[data-variable]");
  if (!node) return;
  const row = event.target.closest("[data-word]");
  if (row) toggle(Number(node.dataset.variable), row.dataset.word);
  else openDialog(Number(node.dataset.variable), node);
}

/** Arrow keys move between nodes; Enter or space opens the dialog of a node. */
function onDrawingKey(event) {
  const node = event.target.closest("[data-variable]");
  if (!node) return;
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" || event.key === " ") openDialog(Number(node.dataset.variable), node);
  else if (step) focusStep(event.currentTarget.querySelectorAll("[data-variable]"), node, step);
  else return;
  event.preventDefault();
}

function focusStep(nodes, from, step) {
  const all = [...nodes];
  const next = all[(all.indexOf(from) + step + all.length) % all.length];
  for (const node of all) node.setAttribute("tabindex", node === next ? "0" : "-1");
  next.focus();
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

$("undo").onclick = undo;
$("reset").onclick = reset;
$("theme").onclick = switchTheme;
$("search").oninput = arrange;
$("search").onkeydown = onSearchKey;
$("sort").onchange = arrange;
$("reverse").onclick = reverse;
$("entries").onkeydown = onEntryKey;
for (const id of ["picture", "network"]) {
  $(id).onclick = onDrawingClick;
  $(id).onkeydown = onDrawingKey;
}
for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) {
  document.addEventListener(type, highlight);
}
if (entries.length) {
  const nouns = new Set(data.explanations.map(({ noun }) => noun));
  const counted = nouns.size === 1 ? [...nouns][0] : "part";
  $("sort").querySelector("[value=found]").textContent = `by number of ${counted}s`;
  $("list").hidden = false;
  document.body.classList.add("many");
  arrange();
}
/** The explanation that the address names, such as `page.html#3`; else the first. */
function pickFromAddress() {
  const wanted = Number(location.hash.slice(1));
  pick(data.explanations[wanted] ? wanted : 0);
}

addEventListener("hashchange", pickFromAddress);
pickFromAddress();
