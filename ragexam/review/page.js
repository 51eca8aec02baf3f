"use strict";
/* What both pages share. Text of the run enters the page as text nodes and values only, never as markup. */

const byId = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "for" || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/* Text of unknown direction and origin: it cannot turn the text around it. */
const foreign = (tag, text, properties = {}) => element(tag, { dir: "auto", ...properties, textContent: text });

/* A box whose parts stand in the order in which its text is read. */
const directed = (spoken) => (spoken.dir === "rtl" ? { dir: "rtl" } : {});

const button = (label, key, act, className = "") =>
  element("button", { type: "button", className, onclick: act }, label, key ? " " : null, key ? element("kbd", { textContent: key }) : null);

class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function answered(response) {
  const value = await response.json();
  if (!response.ok) throw new Refused(value.error, response.status);
  return value;
}

async function reached(request) {
  try {
    return await request;
  } catch {
    throw new Refused("ragexam view does not answer: is it still running? Nothing that was confirmed is lost.", 0);
  }
}

const ask = async (name, query = {}) => answered(await reached(fetch(`api/${name}?${new URLSearchParams(query)}`)));

const tell = async (name, body) =>
  answered(
    await reached(
      fetch(`api/${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    ),
  );

let fading = 0;
function say(message, isError = false) {
  const said = byId("said");
  clearTimeout(fading);
  said.textContent = message;
  said.classList.toggle("error", isError);
  if (!isError) fading = setTimeout(() => { said.textContent = ""; }, 6000);
}

/* Pieces of work one after the other, in the order in which they were asked for; what one is refused is said. */
let queue = Promise.resolve();
function attempt(work) {
  queue = queue.then(work).catch((error) => {
    say(error.message, true);
    if (!(error instanceof Refused)) console.error(error);
  });
  return queue;
}

const LEGEND = { sentence: "the sentence it was written from", key: "the key" };

/* The passage with its marks, scrolled to the first of them once it is on the page. */
function passage(pieces, spoken) {
  if (!pieces.some(([text]) => text)) return element("p", { className: "soft", textContent: "No passage is known." });
  const parts = pieces.map(([text, kind]) => (kind ? element("mark", { className: kind, textContent: text }) : text));
  const box = element("div", { className: "passage", dir: "auto", tabIndex: 0, role: "region", "aria-label": "Passage", ...spoken }, ...parts);
  const kinds = Object.keys(LEGEND).filter((kind) => pieces.some(([, other]) => other === kind));
  const legend = kinds.map((kind) => element("mark", { className: kind, textContent: LEGEND[kind] }));
  requestAnimationFrame(() => {
    const mark = box.querySelector("mark");
    if (mark) box.scrollTop = mark.offsetTop - box.clientHeight / 3;
  });
  return element("div", {}, kinds.length ? element("p", { className: "legend soft" }, ...legend) : null, box);
}

const hiddenNote = (names) =>
  names.length ? element("p", { className: "warning", textContent: `Holds characters that do not show: ${names.join(", ")}.` }) : null;

/* One choice: its letter, its text, and what is to be said of it. */
const choiceLine = (index, isKey, ...content) =>
  element("li", { className: isKey ? "key" : "" }, element("span", { className: "letter", textContent: letter(index) }), ...content);

const tag = (text) => element("span", { className: "tag", textContent: text });

const letter = (index) => String.fromCharCode(65 + index);

const isTyping = (target) => target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select");

/* Keys: a table from key to work. It is looked up when the work before it is done, so that quick fingers are not ahead
   of the page; none while typing or in a dialog. */
function listen(keysNow) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isTyping(event.target)) return;
    if (byId("keys").open) return;
    if (event.key === "Enter" && event.target.closest("button, a, summary, input")) return;
    if (keysNow()[event.key]) event.preventDefault();
    attempt(() => keysNow()[event.key]?.());
  });
}

function showKeys() {
  byId("keys").showModal();
}
