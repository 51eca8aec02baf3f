"use strict";

const WINDOW = 100;
const state = { rows: new Map(), ids: [], at: 0, detail: null, edits: 0, faults: {}, mode: "reading", found: null };

const MARKS = { read: "read", edited: "edited", retired: "retired", restored: "restored" };
const FILTERS = [
  ["exam", "In the exam", (row) => row.rule === null],
  ["unread", "In the exam, unread", (row) => row.rule === null && !row.marks.includes("read")],
  ["flagged", "Flagged by the measurement", (row) => row.flagged],
  ["out", "Out of the exam", (row) => row.rule !== null],
  ["edited", "Edited", (row) => row.marks.includes("edited")],
  ["retired", "Retired", (row) => row.marks.includes("retired")],
  ["restored", "Restored", (row) => row.marks.includes("restored")],
  ["all", "Everything", () => true],
];

const current = () => state.rows.get(state.ids[state.at]);

async function start() {
  const found = await ask("start");
  state.rows = new Map(found.rows.map((row) => [row.id, row]));
  state.faults = found.faults;
  byId("run").textContent = found.run;
  document.title = `${found.run} · ragexam review`;
  take(found);
  drawFilters();
}

/* Progress and notices, which every answer carries. */
function take(found) {
  const { exam, read, edited, retired, restored, edits } = found.progress;
  state.edits = edits;
  byId("bar").max = Math.max(exam, 1);
  byId("bar").value = read;
  const changed = [[edited, "edited"], [retired, "retired"], [restored, "restored"]].filter(([count]) => count);
  byId("progress").textContent = [`${read} of ${exam} read`, ...changed.map(([count, word]) => `${count} ${word}`)].join(", ");
  if (found.notice) {
    byId("notice").textContent = found.notice;
    byId("notice").hidden = false;
  }
}

function drawFilters() {
  const chosen = byId("filter").value || "exam";
  const rows = [...state.rows.values()];
  const options = FILTERS.map(([name, label, holds]) =>
    element("option", { value: name, textContent: `${label} (${rows.filter(holds).length})` }),
  );
  const rules = new Map();
  for (const row of rows) if (row.rule !== null) rules.set(row.rule, (rules.get(row.rule) || 0) + 1);
  const reasons = [...rules].sort((one, other) => other[1] - one[1]);
  const group = element("optgroup", { label: "Out because" });
  group.append(...reasons.map(([rule, count]) => element("option", { value: `rule:${rule}`, textContent: `${rule} (${count})` })));
  byId("filter").replaceChildren(...options, ...(reasons.length ? [group] : []));
  byId("filter").value = chosen;
  if (!byId("filter").value) byId("filter").value = "all";
}

/* The ids to go through. They stay until filter or search change, so that nothing jumps away under the reader. */
async function choose() {
  const name = byId("filter").value;
  const holds = name.startsWith("rule:")
    ? (row) => row.rule === name.slice(5)
    : FILTERS.find(([one]) => one === name)[2];
  const words = byId("search").value.trim();
  const found = words ? new Set(await ask("search", { q: words })) : null;
  const before = state.ids[state.at];
  state.ids = [...state.rows.values()].filter((row) => holds(row) && (!found || found.has(row.id))).map((row) => row.id);
  state.at = Math.max(0, state.ids.indexOf(before));
  await visit();
}

async function visit() {
  const row = current();
  state.mode = "reading";
  state.detail = row ? await ask("question", { n: row.number }) : null;
  drawRows();
  drawQuestion();
}

function drawRows() {
  const from = Math.floor(state.at / WINDOW) * WINDOW;
  const shown = state.ids.slice(from, from + WINDOW);
  const hadFocus = byId("rows").contains(document.activeElement);
  byId("rows").replaceChildren(...shown.map((id, index) => rowElement(state.rows.get(id), from + index)));
  byId("rows").start = from + 1;
  const range = state.ids.length > WINDOW ? `, ${from + 1} to ${from + shown.length} shown` : "";
  byId("count").textContent = state.ids.length ? `${state.at + 1} of ${state.ids.length}${range}` : "Nothing fits.";
  byId("earlier").parentElement.hidden = state.ids.length <= WINDOW;
  byId("earlier").disabled = from === 0;
  byId("later").disabled = from + WINDOW >= state.ids.length;
  const now = byId("rows").querySelector("[aria-current]");
  if (now) {
    now.scrollIntoView({ block: "nearest" });
    if (hadFocus) now.focus({ preventScroll: true });
  }
}

function rowElement(row, index) {
  const made = element(
    "button",
    { type: "button", className: "row", onclick: () => attempt(() => go(index)) },
    element("span", { className: "number", textContent: row.number }),
    foreign("span", row.stem || "(no text)", { className: "words", ...row.spoken }),
    element("span", { className: "badges" }, ...badges(row)),
  );
  if (index === state.at) made.setAttribute("aria-current", "true");
  return element("li", {}, made);
}

function badges(row) {
  const made = row.marks.map((mark) => element("span", { className: `badge ${mark}`, textContent: MARKS[mark] }));
  if (row.rule !== null && !row.marks.includes("retired")) made.unshift(foreign("span", row.rule, { className: "badge out" }));
  if (row.flagged) made.push(element("span", { className: "badge flagged", textContent: "flagged" }));
  return made;
}

async function go(index) {
  if (index < 0 || index >= state.ids.length) return say(index < 0 ? "This is the first." : "This is the last.");
  if (!mayLeave()) return;
  say("");
  state.at = index;
  await visit();
  if (!byId("rows").contains(document.activeElement)) byId("question").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function drawQuestion() {
  const place = byId("question");
  const detail = state.detail;
  if (!detail) return place.replaceChildren(element("p", { className: "soft", textContent: "No question to show." }));
  const row = current();
  const left = element("div", { className: "side" }, heading(row, detail), ...notes(detail));
  left.append(...(state.mode === "editing" ? [editor(detail)] : reading(detail)));
  const right = element(
    "div",
    { className: "side" },
    element("h3", { textContent: "Passage" }),
    passage(detail.passage, detail.spoken),
    detail.choices && detail.passage.length && !detail.key_in_passage
      ? element("p", { className: "soft", textContent: "The key does not stand in the passage in these words." })
      : null,
    facts(detail),
  );
  place.replaceChildren(left, right);
}

function heading(row, detail) {
  const tags = element("ul", { className: "tags" }, ...badges(row).map((badge) => element("li", {}, badge)));
  const title = element("h2", { textContent: `Question ${row.number}` });
  return element("div", { className: "head" }, title, tags, detail.reason === null ? null : standing(detail));
}

const standing = (detail) =>
  element("p", { className: "reason" }, element("b", { textContent: "Out of the exam: " }), foreign("span", detail.reason));

function notes(detail) {
  const found = [];
  if (detail.reason === null && detail.dropped_for !== null) {
    found.push(element("p", { className: "soft" }, "Restored; it had been dropped: ", foreign("span", detail.dropped_for)));
  }
  for (const flag of detail.flags) found.push(foreign("p", flag, { className: "warning" }));
  for (const hint of detail.hints) found.push(foreign("p", `A rule objects: ${hint}`, { className: "warning" }));
  found.push(hiddenNote(detail.hidden));
  if (detail.right) {
    const [right, asked] = detail.right;
    found.push(element("p", { className: "soft", textContent: `${right} of ${asked} pipelines got it right as written.` }));
  }
  return found.filter(Boolean);
}

function reading(detail) {
  const parts = [];
  if (detail.choices) {
    parts.push(foreign("p", detail.question, { className: "stem", ...detail.spoken }), choiceList(detail.choices, detail.answer, detail.spoken));
  } else {
    parts.push(element("p", { className: "soft", textContent: "No complete question: only the model's own words are left." }));
  }
  parts.push(state.mode === "retiring" ? reasons() : actions(detail));
  if (detail.written) {
    parts.push(element("details", {}, element("summary", { textContent: "As it was written" }),
      foreign("p", detail.written.question, { className: "stem", ...detail.spoken }),
      choiceList(detail.written.choices, detail.written.answer, detail.spoken)));
  }
  if (detail.raw) {
    parts.push(element("details", { open: !detail.choices }, element("summary", { textContent: "The model's own words" }),
      foreign("pre", detail.raw)));
  }
  if (detail.history.length) parts.push(decisions(detail.history));
  return parts;
}

const choiceList = (choices, key, spoken) =>
  element("ol", { className: "choices", ...directed(spoken) },
    ...choices.map((choice, index) => choiceLine(index, index === key, foreign("span", choice, spoken), index === key ? tag("key") : null)));

function actions(detail) {
  const isOut = detail.reason !== null;
  const made = [
    button(isOut ? "Accept the drop" : "Accept", "a", () => attempt(accept), "first"),
    detail.choices ? button("Edit", "e", edit) : null,
    isOut ? (detail.choices ? button("Restore", "r", () => attempt(turn)) : null) : button("Retire", "r", () => attempt(turn)),
    button("Undo last", "u", () => attempt(undo)),
    button("Previous", "k", () => attempt(() => go(state.at - 1))),
    button("Next", "j", () => attempt(() => go(state.at + 1))),
  ];
  return element("div", { className: "actions", role: "group", "aria-label": "Decide" }, ...made);
}

function reasons() {
  const names = Object.keys(state.faults);
  const made = names.map((name, index) => {
    const one = button(name, String(index + 1), () => attempt(() => retire(name)));
    one.title = state.faults[name];
    return one;
  });
  return element("div", { className: "actions", role: "group", "aria-label": "Why is it retired?" },
    element("p", { textContent: "Why is it retired?" }), ...made,
    button("No reason", "Enter", () => attempt(() => retire(""))), button("Keep it", "Esc", keep));
}

const decisions = (lines) =>
  element("details", {}, element("summary", { textContent: `${lines.length} ${lines.length === 1 ? "decision" : "decisions"} on it` }),
    element("ol", { className: "history" }, ...lines.map((line) => element("li", {
      value: line.number, textContent: `${line.action}${line.undoes ? ` of ${line.undoes}` : ""}, ${line.time.replace("T", " ")}` }))));

function facts(detail) {
  const names = Object.keys(detail.facts);
  if (!names.length) return null;
  return element("details", {}, element("summary", { textContent: "How it was made" }),
    element("dl", {}, ...names.flatMap((name) => [element("dt", { textContent: name }), foreign("dd", detail.facts[name])])));
}

/* Decisions. */

async function act(action, rest = {}) {
  try {
    const found = await tell("act", { question: current().id, action, seen: state.edits, ...rest });
    state.rows.set(found.row.id, found.row);
    take(found);
    drawFilters();
    return found;
  } catch (error) {
    if (error.status === 409) await lookAgain();
    throw error;
  }
}

async function lookAgain() {
  await start();
  if (state.mode === "editing") return;
  if (current()) await visit();
}

async function accept() {
  const row = current();
  if (!row) return;
  if (!row.marks.includes("read")) await act("accept");
  if (state.at + 1 < state.ids.length) return go(state.at + 1);
  await visit();
  say("Accepted. This was the last of the list.");
}

async function turn() {
  const detail = state.detail;
  if (!detail) return;
  if (detail.reason === null) {
    state.mode = "retiring";
    drawQuestion();
    return byId("question").focus({ preventScroll: true });
  }
  if (!detail.choices) return say("Only raw text is left of it: nothing to restore.", true);
  show(await act("restore"), "Restored.");
}

async function retire(reason) {
  show(await act("retire", { reason }), "Retired; u brings it back.");
}

async function undo() {
  const found = await act("undo", { question: "" });
  if (!state.ids.includes(found.row.id)) state.ids.splice(state.at, 0, found.row.id);
  state.at = state.ids.indexOf(found.row.id);
  show(found, `Undone: ${found.undone} of question ${found.row.number}.`);
}

function show(found, message) {
  state.mode = "reading";
  state.detail = found.detail;
  drawRows();
  drawQuestion();
  byId("question").focus({ preventScroll: true });
  say(message);
}

function keep() {
  state.mode = "reading";
  drawQuestion();
  byId("question").focus({ preventScroll: true });
}

async function write() {
  const found = await tell("write", {});
  say(`${found.questions} questions written to ${found.reviewed}.`);
}

/* Keys and events. */

function keysNow() {
  if (state.mode === "editing") return { Escape: leave };
  if (state.mode === "retiring") {
    const numbered = Object.keys(state.faults).map((name, index) => [String(index + 1), () => retire(name)]);
    return { ...Object.fromEntries(numbered), Enter: () => retire(""), Escape: keep, "?": showKeys };
  }
  return {
    j: () => go(state.at + 1),
    k: () => go(state.at - 1),
    a: accept,
    e: edit,
    r: turn,
    u: undo,
    w: write,
    "/": () => byId("search").focus(),
    "?": showKeys,
  };
}

let typing = 0;
listen(keysNow);
byId("help").onclick = showKeys;
byId("write").onclick = () => attempt(write);
byId("filter").onchange = () => mayLeave() && attempt(choose);
byId("search").oninput = () => {
  clearTimeout(typing);
  typing = setTimeout(() => attempt(choose), 250);
};
byId("search").onkeydown = (event) => {
  if (event.key === "Enter" || event.key === "Escape") byId("question").focus();
};
byId("earlier").onclick = () => attempt(() => go(Math.max(0, (Math.floor(state.at / WINDOW) - 1) * WINDOW)));
byId("later").onclick = () => attempt(() => go((Math.floor(state.at / WINDOW) + 1) * WINDOW));
window.addEventListener("beforeunload", (event) => {
  if (state.mode === "editing" && isChanged()) event.preventDefault();
});
window.addEventListener("focus", () =>
  attempt(async () => {
    const found = await ask("state");
    if (found.progress.edits !== state.edits) await lookAgain();
  }),
);
attempt(async () => {
  await start();
  await choose();
});
