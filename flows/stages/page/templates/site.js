
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
