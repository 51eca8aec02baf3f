const byValue = (one, other) => {
  if (one === "" || other === "") return (one === "") - (other === "");
  return isNaN(one) || isNaN(other) ? one.localeCompare(other) : one - other;
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      const order = (one, other) => {
        const [a, b] = [value(one), value(other)];
        return a === "" || b === "" ? byValue(a, b) : (down ? -1 : 1) * byValue(a, b);
      };
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
    });
  });
}

for (const bar of document.querySelectorAll(".filters")) {
  const rows = [...document.getElementById(bar.dataset.for).querySelectorAll("[data-row]")];
  const groups = [...document.getElementById(bar.dataset.for).querySelectorAll("[data-group]")];
  const choices = [...bar.querySelectorAll("select")];
  const search = bar.querySelector("input");
  const told = bar.querySelector("output");
  const texts = new Map();
  const text = (row) => texts.get(row) ?? texts.set(row, row.textContent.toLowerCase()).get(row);
  const show = () => {
    const wanted = choices.map((one) => one.value).filter(Boolean);
    const words = search.value.toLowerCase().trim();
    let count = 0;
    for (const row of rows) {
      const has = row.dataset.row.split(" ");
      row.hidden = !(wanted.every((token) => has.includes(token)) && (!words || text(row).includes(words)));
      count += !row.hidden;
    }
    for (const group of groups) {
      group.hidden = !group.querySelector("[data-row]:not([hidden])");
      if (wanted.length || words) group.open = true;
    }
    told.textContent = `${count} of ${rows.length} ${bar.dataset.what} shown`;
  };
  for (const one of [...choices, search]) one.addEventListener("input", show);
  bar.hidden = false;
}

const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let one = target; one; one = one.parentElement) {
    one.hidden = false;
    if (one.tagName === "DETAILS") one.open = true;
  }
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();
