// The questions of a study, in one page. Answers go into a queue that survives a reload, and from
// there to the server; without a server (static mode), the rater saves the queue as a file.
"use strict";

const PAUSE = 300; // ms in which a second click of a double click is ignored
const AT_ONCE = 50;
const LONGEST_WAIT = 8000;
const PATIENCE = 5000; // ms to wait for the verdict on a check of the instructions

const root = document.getElementById("study");
const embedded = document.getElementById("data");
const isStatic = embedded !== null;
const base = root.dataset.base;
const memory = new Map();
let data, answers, key, shownAt = 0, sending = null, wait = 1000, timer = null, ending = null;
let hints = {}, tried = {};

// Values stored in the browser, or in memory if the browser has no storage.
function kept(name, otherwise) {
    try {
        const text = localStorage.getItem(key + name);
        return text === null ? (memory.has(name) ? memory.get(name) : otherwise) : JSON.parse(text);
    } catch { return memory.has(name) ? memory.get(name) : otherwise; }
}
function keep(name, value) {
    memory.set(name, value);
    try { localStorage.setItem(key + name, JSON.stringify(value)); } catch { /* in memory only */ }
}

function randomId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) {
        if (value === true) made.setAttribute(attribute, "");
        else if (value !== false && value !== null) made.setAttribute(attribute, value);
    }
    made.append(...children);
    return made;
}
const paragraphs = (text) => text.split(/\n\s*\n/).filter(Boolean).map((each) => element("p", {}, each));
function button(text, act, attributes = {}) {
    const made = element("button", { type: "button", ...attributes }, text);
    made.addEventListener("click", act);
    return made;
}
function show(...children) {
    root.replaceChildren(...children);
    shownAt = performance.now();
    const heading = root.querySelector("h1");
    if (heading) { heading.tabIndex = -1; heading.focus(); }
    scrollTo(0, 0);
}

// The queue

const queue = () => kept("queue", []);

function answer(trial, value, ms) {
    answers[trial] = value;
    keep("queue", [...queue(), { trial, value, ms, submission: randomId() }]);
    return flush();
}

function flush() { // one sender at a time, which also sends what is added meanwhile
    if (isStatic) return Promise.resolve();
    sending ??= send().finally(() => { sending = null; });
    return sending;
}

async function send() {
    clearTimeout(timer);
    try {
        let size = AT_ONCE;
        while (queue().length) {
            const batch = queue().slice(0, size);
            const response = await fetch(`${base}/answers`, {
                method: "POST",
                headers: { "content-type": "application/json" },
                body: JSON.stringify({ answers: batch }),
                keepalive: true,
            });
            if (response.status >= 500 || response.status === 429) throw new Error("later");
            if (!response.ok && batch.length > 1) { size = 1; continue; }
            const sent = new Set(batch.map((each) => each.submission));
            keep("queue", queue().filter((each) => !sent.has(each.submission)));
            if (response.ok) learn(await response.json());
            else keep("refused", [...kept("refused", []), ...batch]);
            wait = 1000;
        }
        say("");
    } catch {
        const count = queue().length;
        say(`There is no connection. ${count === 1 ? "1 answer is" : `${count} answers are`} kept ` +
            "on this device and sent later. You can continue.");
        timer = setTimeout(flush, wait);
        wait = Math.min(2 * wait, LONGEST_WAIT);
    }
    if (location.hash === "#end" && !queue().length) end();
}

function learn(reply) {
    hints = { ...hints, ...reply.hints };
    if (reply.ending) ending = reply.ending;
}

async function catchUp() { // another tab may have answered
    if (isStatic || !data || queue().length) return;
    try {
        const response = await fetch(`${base}/answers`);
        if (!response.ok) return;
        const reply = await response.json();
        learn(reply);
        for (const [trial, value] of Object.entries(reply.answers)) answers[trial] = value;
        progress();
        const chosen = answers[current()];
        if (chosen !== undefined && !root.querySelector("input:checked")) {
            const input = root.querySelector(`input[value="${chosen}"]`);
            if (input) input.checked = true;
        }
    } catch { /* tried again later */ }
}

function say(text) {
    const status = document.getElementById("status");
    if (status.textContent !== text) status.textContent = text;
}

// Screens

const current = () => (/^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) - 1 : null);
const unanswered = () => data.trials.findIndex((_, at) => answers[at] === undefined);
function go(place) {
    const hash = typeof place === "number" ? `#${place + 1}` : `#${place}`;
    if (location.hash === hash) route(); else location.hash = hash;
}
function progress() {
    const done = Object.keys(answers).length;
    const bar = document.getElementById("progress");
    if (bar) { bar.value = done; document.getElementById("done").textContent = `${done} of ${data.trials.length} answered`; }
}

function route() {
    if (isStatic && !kept("consent", false)) return consent();
    const at = current();
    if (at !== null && at < data.trials.length) {
        const first = unanswered();
        if (first >= 0 && at > first) return go(first); // not ahead of the first open question
        return trial(at);
    }
    return location.hash === "#end" ? end() : start();
}

function consent() {
    const box = element("input", { type: "checkbox", id: "agree", required: true });
    const form = element("form", {},
        element("label", { for: "agree", class: "choice" }, box, element("span", {}, "I have read this and want to take part.")),
        element("button", { type: "submit", class: "primary" }, "Begin"));
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        keep("consent", true);
        route();
    });
    show(element("h1", {}, data.texts.title), ...paragraphs(data.texts.intro), element("h2", {}, "Consent"),
        ...paragraphs(data.consent), form);
}

function start() {
    const begun = Object.keys(answers).length > 0;
    const first = unanswered();
    const link = isStatic ? [element("p", {}, "Your answers are kept in this browser until you save them as a file at the end.")] : [
        element("p", {}, "This is your personal link. With it you can stop and come back; do not share it."),
        element("p", {}, element("a", { href: location.pathname }, location.origin + location.pathname)),
    ];
    show(element("h1", {}, data.texts.title), ...paragraphs(data.texts.intro), ...link,
        button(begun ? "Continue" : "Start", () => go(first < 0 ? "end" : first), { class: "primary" }));
}

function trial(at) {
    const asked = data.trials[at];
    const { scale } = data.texts;
    const values = asked.options
        ? asked.options.map((text, value) => [value, text])
        : Array.from({ length: scale.most - scale.least + 1 }, (_, step) => [scale.least + step, String(scale.least + step)]);
    const choices = values.map(([value, text]) => element("label", { class: "choice" },
        element("input", { type: "radio", name: "answer", value, checked: answers[at] === value }), element("span", {}, text)));
    const ends = asked.options ? [] : [element("div", { class: "ends" },
        element("span", {}, `${scale.least} = ${scale.low}`), element("span", {}, `${scale.most} = ${scale.high}`))];
    const error = element("p", { id: "error", role: "alert" });
    if (hints[at] && tried[at]) error.textContent = `Please read again: ${hints[at]} Then choose your answer.`;
    const form = element("form", { novalidate: true },
        element("fieldset", { class: asked.options ? "options" : "scale" },
            element("legend", {}, asked.question), ...ends, element("div", { class: "choices" }, ...choices)),
        error,
        element("div", { class: "buttons" },
            button("Back", () => go(at === 0 ? "start" : at - 1)),
            element("button", { type: "submit", class: "primary" }, "Next")));
    form.addEventListener("submit", (event) => { event.preventDefault(); submit(at, form, error); });
    const parts = [element("h1", {}, `Question ${at + 1} of ${data.trials.length}`)];
    const help = asked.block === "check" ? data.texts.intro + "\n\n" + data.texts.rating : data.texts[asked.block];
    const opens = at === 0 || data.trials[at - 1].block !== asked.block;
    if (help) parts.push(element("details", { open: opens }, element("summary", {}, "Instructions"), ...paragraphs(help)));
    if (asked.picture) {
        parts.push(element("figure", {}, element("figcaption", {}, asked.caption),
            element("img", { src: "data:image/svg+xml," + encodeURIComponent(asked.picture), alt: asked.alt })));
    }
    parts.push(form, element("div", { class: "progress" },
        element("progress", { id: "progress", max: data.trials.length, "aria-label": "Progress" }), element("span", { id: "done" })));
    show(...parts);
    progress();
}

async function submit(at, form, error) {
    if (performance.now() - shownAt < PAUSE) return; // the second click of a double click
    const chosen = form.querySelector("input:checked");
    if (!chosen) {
        error.textContent = "Please choose an answer.";
        form.querySelector("input").focus();
        return;
    }
    const value = Number(chosen.value);
    if (answers[at] !== value) {
        const sent = answer(at, value, Math.round(performance.now() - shownAt));
        shownAt = performance.now();
        if (data.trials[at].block === "check" && !isStatic) {
            const repeated = tried[at];
            tried[at] = true;
            delete hints[at];
            await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
            if (hints[at] && !repeated) return trial(at);
        }
    }
    if (current() !== at) return; // the rater has moved on to another question
    go(at + 1 < data.trials.length ? at + 1 : "end");
}

function end() {
    const first = unanswered();
    if (first >= 0) {
        show(element("h1", {}, "Not all questions are answered yet"), button("Continue", () => go(first), { class: "primary" }));
    } else if (isStatic) handOver();
    else if (queue().length || !ending) {
        show(element("h1", {}, "Your last answers are being sent"),
            element("p", {}, "Please keep this page open until it says that your answers have been saved."));
        (queue().length ? flush() : catchUp()).then(() => { if (ending && !queue().length) end(); });
    } else {
        const parts = [element("h1", {}, "You have finished"), ...paragraphs(data.texts.thanks)];
        if (ending.code) parts.push(element("p", {}, "Your completion code: ", element("strong", { id: "code" }, ending.code)));
        if (ending.url) parts.push(element("p", {}, element("a", { href: ending.url, rel: "noreferrer" }, "Return to the recruiting service")));
        show(...parts);
    }
}

function handOver() {
    const text = JSON.stringify({
        format: "pgm-explainer-answers", version: 1, study: data.code, slot: data.slot, run: kept("run", null), answers: queue(),
    });
    const link = element("a", { download: `answers-${kept("run", "")}.json`, class: "primary", id: "download",
        href: URL.createObjectURL(new Blob([text], { type: "application/json" })) }, "Save your answers as a file");
    show(element("h1", {}, "You have finished"), ...paragraphs("Your answers are still on this device. Please save them as a file and send the file to the researchers."),
        element("p", {}, link), element("label", { for: "copy" }, "Or copy this text:"),
        element("textarea", { id: "copy", readonly: true, rows: "6" }, text));
}

async function begin() {
    if (isStatic) {
        data = JSON.parse(embedded.textContent);
        key = `study-${data.code}-`;
        const wanted = /^#rater=(\d+)$/.exec(location.hash);
        const free = Math.floor(Math.random() * data.sequences.length);
        if (kept("run", null) === null) {
            keep("run", randomId());
            keep("slot", wanted ? (Number(wanted[1]) + data.sequences.length - 1) % data.sequences.length : free);
        }
        data.slot = kept("slot", 0);
        data.trials = data.sequences[data.slot].map((number) => data.shown[number]);
        answers = {};
    } else {
        key = `study-${base}-`;
        for (;;) {
            try {
                const response = await fetch(`${base}/data`);
                if (!response.ok) throw new Error(String(response.status));
                data = await response.json();
                break;
            } catch {
                say("There is no connection. Trying again.");
                await new Promise((resolve) => setTimeout(resolve, 1500));
            }
        }
        say("");
        answers = data.answers;
        learn(data);
    }
    for (const each of queue()) answers[each.trial] = each.value;
    addEventListener("hashchange", route);
    addEventListener("online", flush);
    addEventListener("pagehide", flush);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) { flush(); catchUp(); } });
    route();
    flush();
}

begin();
