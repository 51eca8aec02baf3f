"use strict";
/* Editing the question that the page shows. */

function edit() {
  if (!state.detail || !state.detail.choices) return say("Only raw text is left of it: nothing to edit.", true);
  state.mode = "editing";
  drawQuestion();
  byId("question").querySelector("textarea").focus();
}

function editor(detail) {
  const form = element("form", { className: "editor", noValidate: true, onsubmit: (event) => { event.preventDefault(); attempt(save); } });
  const stem = element("textarea", { id: "edit-stem", rows: 4, dir: "auto", ...detail.spoken, value: detail.question });
  const choices = element("ol", { className: "choices", ...directed(detail.spoken) }, ...detail.choices.map((text, index) => choiceEditor(text, index === detail.answer, detail.spoken)));
  const add = button("Add a choice", "", () => {
    choices.append(choiceEditor("", false, detail.spoken));
    nameChoices();
    choices.lastElementChild.querySelector("textarea").focus();
  });
  form.append(
    element("label", { for: "edit-stem", textContent: "Question" }), stem,
    element("fieldset", {}, element("legend", { textContent: "Choices; the marked one is the key" }), choices, add),
    element("div", { className: "actions" },
      element("button", { type: "submit", className: "first" }, "Save ", element("kbd", { textContent: "Ctrl+Enter" })),
      button("Leave it", "Esc", leave)),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); attempt(save); }
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); leave(); }
  });
  queueMicrotask(nameChoices);
  return form;
}

function choiceEditor(text, isKey, spoken) {
  const line = element("li", {});
  const remove = button("Remove", "", () => { line.remove(); nameChoices(); });
  line.append(
    element("span", { className: "letter" }),
    element("input", { type: "radio", name: "key", checked: isKey }),
    element("textarea", { rows: Math.min(6, 1 + Math.floor(text.length / 50)), dir: "auto", ...spoken, value: text }),
    remove,
  );
  line.written = text;
  return line;
}

function nameChoices() {
  document.querySelectorAll(".editor li").forEach((line, index) => {
    line.querySelector(".letter").textContent = letter(index);
    line.querySelector("input").setAttribute("aria-label", `Choice ${letter(index)} is the key`);
    line.querySelector("textarea").setAttribute("aria-label", `Choice ${letter(index)}`);
    line.querySelector("button").setAttribute("aria-label", `Remove choice ${letter(index)}`);
  });
}

/* A text area turns every line end into a newline; a text that was not touched is sent as it was. */
const typed = (area, written) => (area.value === written.replace(/\r\n?/g, "\n") ? written : area.value);

function draft() {
  const lines = [...document.querySelectorAll(".editor li")];
  return {
    question: typed(byId("edit-stem"), state.detail.question),
    choices: lines.map((line) => typed(line.querySelector("textarea"), line.written)),
    answer: lines.findIndex((line) => line.querySelector("input").checked),
  };
}

function isChanged() {
  const { question, choices, answer } = draft();
  const now = state.detail;
  return question !== now.question || answer !== now.answer || JSON.stringify(choices) !== JSON.stringify(now.choices);
}

async function save() {
  if (!isChanged()) return keep();
  show(await act("edit", { content: draft() }), "Saved; u brings the earlier wording back.");
}

function leave() {
  if (mayLeave()) keep();
}

const mayLeave = () => state.mode !== "editing" || !isChanged() || window.confirm("Leave the changes of this question?");
