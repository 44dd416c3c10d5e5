
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const numeric = head.classList.contains("number");
    const value = (row) => {
      const text = row.cells[column].textContent.trim();
      return numeric ? parseFloat(text.replaceAll(",", "")) : text;
    };
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      const down = was === null ? numeric : was === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((one, two) => {
        const [a, b] = [value(one), value(two)];
        if (numeric && (isNaN(a) || isNaN(b))) return isNaN(a) - isNaN(b);
        const order = numeric ? a - b : a.localeCompare(b);
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}

for (const table of document.querySelectorAll("table.searched")) {
  if (table.tBodies[0].rows.length < 2) continue;
  const field = document.createElement("input");
  const found = document.createElement("small");
  field.type = "search";
  field.className = "search";
  field.placeholder = "Search these rows";
  field.setAttribute("aria-label", "Search these rows");
  found.setAttribute("role", "status");
  const box = table.closest(".scroll") ?? table;
  box.before(field, " ", found);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const left = rows.filter((row) => !row.hidden).length;
    found.textContent = words.length ? `${left} of ${rows.length}` : "";
  });
}
