"use strict";

const state = { items: 0, at: 1, judged: new Set(), faults: {}, item: null, chosen: new Set() };

const isOver = () => state.items > 0 && state.judged.size === state.items;

async function start() {
  take(await ask("start"));
  const first = firstOpen();
  await (first ? go(first) : over());
}

function take(found) {
  state.items = found.items;
  state.judged = new Set(found.judged);
  state.faults = found.faults;
  byId("run").textContent = `${found.run}, seed ${found.seed}`;
  document.title = `${found.run} · ragexam blind audit`;
  byId("bar").max = found.items;
  byId("bar").value = found.judged.length;
  byId("progress").textContent = `${found.judged.length} of ${found.items} judged`;
}

/* The next item without a judgment, from here on and then from the beginning; 0 when there is none. */
function firstOpen() {
  for (let step = 0; step < state.items; step += 1) {
    const number = ((state.at - 1 + step) % state.items) + 1;
    if (!state.judged.has(number)) return number;
  }
  return 0;
}

async function go(number) {
  if (isOver()) return over();
  if (number < 1 || number > state.items) return say(number < 1 ? "This is the first." : "This is the last.");
  state.at = number;
  show(await ask("item", { n: number }));
  window.scrollTo(0, 0);
}

function show(item) {
  state.item = item;
  state.chosen = new Set(item.faults || []);
  draw();
  byId("question").focus({ preventScroll: true });
}

function draw() {
  const item = state.item;
  const title = element("div", { className: "head" }, element("h2", { textContent: `Item ${item.item} of ${state.items}` }),
    item.faults === null ? null : element("span", { className: "badge read", textContent: item.faults.length ? "judged" : "judged sound" }));
  const left = element("div", { className: "side" }, title, hiddenNote(item.hidden), foreign("p", item.question, { className: "stem", ...item.spoken }),
    choices(item), item.answered ? judging(item) : answering(item));
  const right = element("div", { className: "side" }, element("h3", { textContent: "Passage" }), passage(item.passage, item.spoken));
  byId("question").replaceChildren(left, right);
}

function choices(item) {
  return element("ol", { className: "choices", ...directed(item.spoken) }, ...item.choices.map((choice, index) => {
    if (!item.answered) {
      const act = () => attempt(() => answer(index));
      return choiceLine(index, false, element("button", { type: "button", className: "choice", onclick: act },
        element("kbd", { textContent: index + 1 }), " ", foreign("span", choice, item.spoken)));
    }
    const isKey = index === item.answer;
    return choiceLine(index, isKey, foreign("span", choice, item.spoken), isKey ? tag("key") : null, index === item.chosen ? tag("your choice") : null);
  }));
}

const answering = () =>
  element("div", { className: "actions", role: "group", "aria-label": "Your answer" },
    element("p", { textContent: "Which choice is right, by the passage? The key shows after your answer." }),
    button("None, or one cannot tell", "0", () => attempt(() => answer(-1))),
    button("Previous", "k", () => attempt(() => go(state.at - 1))),
    button("Next", "j", () => attempt(() => go(state.at + 1))));

function judging(item) {
  const names = Object.keys(state.faults);
  const lines = names.map((name, index) => {
    const box = element("input", { type: "checkbox", checked: state.chosen.has(name), onchange: () => toggle(name) });
    return element("label", { className: "fault" }, box, element("kbd", { textContent: index + 1 }), element("b", { textContent: name }),
      element("span", { className: "soft", textContent: state.faults[name] }));
  });
  const note = element("input", { id: "note", value: item.note, autocomplete: "off" });
  note.onkeydown = (event) => { if (event.key === "Enter") { event.preventDefault(); byId("question").focus(); } };
  return element("div", { className: "judging" },
    element("fieldset", {}, element("legend", { textContent: verdict(item) }), ...lines),
    element("label", { for: "note" }, "Note ", element("kbd", { textContent: "n" })), note,
    element("div", { className: "actions", role: "group", "aria-label": "Judge" },
      button("Sound", "s", () => attempt(() => judge([])), "first"),
      button("Save faults", "Enter", () => attempt(saveFaults)),
      button("Previous", "k", () => attempt(() => go(state.at - 1))),
      button("Next", "j", () => attempt(() => go(state.at + 1)))));
}

function verdict(item) {
  if (item.chosen === item.answer) return "You chose the key. Is anything wrong with the question?";
  const yours = item.chosen === null ? "no choice" : item.chosen < 0 ? "none" : letter(item.chosen);
  return `You chose ${yours}, the key is ${letter(item.answer)}. What is wrong with the question?`;
}

function toggle(name) {
  if (!state.chosen.delete(name)) state.chosen.add(name);
  const note = byId("note").value;
  state.item.note = note;
  draw();
  byId("question").focus({ preventScroll: true });
}

async function answer(chosen) {
  if (state.item.answered || chosen >= state.item.choices.length) return;
  show(await tell("answer", { item: state.at, chosen }));
}

async function saveFaults() {
  if (!state.chosen.size) return say("No fault is marked: s says that it is sound.", true);
  await judge([...state.chosen]);
}

async function judge(faults) {
  take(await tell("judge", { item: state.at, faults, note: byId("note").value }));
  say(`Item ${state.at}: ${faults.length ? faults.join(", ") : "sound"}.`);
  const next = firstOpen();
  await (next ? go(next) : over());
}

async function over() {
  const found = await ask("result");
  state.item = null;
  const rows = found.items.map((one) =>
    element("tr", {}, element("td", { textContent: one.item }), element("td", {}, foreign("span", one.stem.slice(0, 300))),
      foreign("td", one.reason === null ? "survivor" : `dropped: ${one.reason}`),
      element("td", { textContent: one.faults.length ? one.faults.join(", ") : "sound" }), foreign("td", one.note)));
  const head = ["item", "question", "label", "judged", "note"].map((name) => element("th", { scope: "col", textContent: name }));
  byId("question").replaceChildren(element("div", { className: "result" },
    element("h2", { textContent: "The audit is complete" }),
    ...found.words.map((line) => element("p", { textContent: line })),
    element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Items with their labels" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)))));
}

function keysNow() {
  const keys = { j: () => go(state.at + 1), k: () => go(state.at - 1), "?": showKeys };
  if (!state.item) return { "?": showKeys };
  if (!state.item.answered) {
    keys["0"] = () => answer(-1);
    state.item.choices.slice(0, 9).forEach((_, index) => { keys[index + 1] = () => answer(index); });
    return keys;
  }
  Object.keys(state.faults).forEach((name, index) => { keys[index + 1] = () => toggle(name); });
  return { ...keys, s: () => judge([]), Enter: saveFaults, n: () => byId("note").focus() };
}

listen(keysNow);
byId("help").onclick = showKeys;
attempt(start);
