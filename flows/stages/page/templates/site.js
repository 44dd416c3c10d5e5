"use strict";
// Tables to sort and filter (DataTables), charts to hover (Vega-Embed), and an address for every view: the
// fragment holds what was searched, sorted, filtered and chosen, as `key=value&key=value`, or one anchor.
window.ready = (async () => {
  const site = (window.site ??= {});
  const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const keep = (key, value) => {
    value ? state.set(key, value) : state.delete(key);
    history.replaceState(null, "", `#${state}`);
  };
  const make = (tag, fields = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), fields);
    made.append(...children);
    return made;
  };
  const script = (src) =>
    new Promise((done, failed) => document.head.append(make("script", { src, onload: done, onerror: failed })));
  const show = (anchor) => {
    const found = document.getElementById(anchor);
    document.querySelectorAll(".here").forEach((one) => one.classList.remove("here"));
    if (!found) return;
    for (let up = found; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    (found.closest("mark") ?? found).classList.add("here");
    found.scrollIntoView({ block: "center" });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    keep("at", decodeURIComponent(link.hash.slice(1)));
    show(state.get("at"));
  });

  // Tables

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark", dark.matches);
  dark.addEventListener("change", follow);
  follow();

  const known = new Map(); // the text of a cell's HTML
  const plain = (html) => {
    if (typeof html !== "string" || !/[<&]/.test(html)) return String(html ?? "").trim();
    if (!known.has(html)) known.set(html, new DOMParser().parseFromString(html, "text/html").body.textContent.trim());
    return known.get(html);
  };
  const numeric = (cell) => parseFloat(plain(cell).replaceAll(",", "").replace(/^[$+]/, ""));
  const last = (order) => (a, b) => (isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : order * (a - b));
  if (window.DataTable) {
    DataTable.type("figure", { order: { pre: numeric, asc: last(1), desc: last(-1) } }); // unknown ones last
  }
  const figure = { type: "figure", orderSequence: ["desc", "asc", ""] };
  let tables = 0;
  const sortable = (table, more = {}) => {
    const place = tables++;
    const key = (name) => (place ? `${name}${place + 1}` : name);
    const order = (state.get(key("sort")) ?? "").split(",").filter(Boolean);
    const rows = more.data?.length ?? table.tBodies[0].rows.length;
    const made = new DataTable(table, {
      autoWidth: false,
      deferRender: true,
      pageLength: 100,
      paging: rows > 300,
      info: rows > 5,
      ordering: rows > 1,
      searching: rows > 1,
      order: order.map((one) => [parseInt(one, 10), one.endsWith("d") ? "desc" : "asc"]),
      search: { search: state.get(key("q")) ?? "" },
      columnDefs: [
        { targets: "number", ...figure },
        { targets: "off", visible: false },
      ],
      language: {
        search: "Search", info: "_START_ to _END_ of _TOTAL_", infoFiltered: "(of _MAX_)", infoEmpty: "none",
        emptyTable: "nothing", zeroRecords: "nothing found", lengthMenu: "_MENU_ rows a page",
      },
      layout: {
        topStart: rows > 1 ? () => filters(table, key) : null,
        topEnd: rows > 1 ? "search" : null,
        bottomStart: rows > 5 ? "info" : null,
        bottomEnd: rows > 300 ? "paging" : null,
      },
      ...more,
    });
    made.on("order", () => keep(key("sort"), made.order().map(([at, way]) => `${at}${way[0]}`).join(",")));
    made.on("search", () => keep(key("q"), made.search()));
    return made;
  };

  const filters = (table, key) => {
    const made = new DataTable.Api(table);
    const box = make("div", { className: "filters" });
    made.columns(".filter").every(function () {
      const column = this;
      const name = plain(column.title());
      const values = [...new Set(column.data().toArray().map(plain))].filter(Boolean);
      if (values.length < 2) return;
      values.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      const field = make("select", {}, make("option", { value: "", textContent: "all" }));
      field.append(...values.map((value) => make("option", { value, textContent: value })));
      const filter = () =>
        column.search.fixed("chosen", field.value ? (_, data) => plain(data[column.index()]) === field.value : null);
      field.value = state.get(key(name)) ?? "";
      if (field.value) filter();
      field.addEventListener("change", () => {
        keep(key(name), field.value);
        filter();
        made.draw();
      });
      box.append(make("label", {}, `${name} `, field));
    });
    return box;
  };

  // Texts are data: no cell of a row from a script is read as HTML.
  const cell = (value, digits) =>
    value === null || value === undefined ? "–" : typeof value !== "number" ? value : digits === "%" ? `${(100 * value).toFixed(1)}%` : digits ? value.toFixed(digits) : String(value);
  const later = (table, columns, data, more = {}) =>
    sortable(table, {
      data,
      columns: columns.map(({ link, digits, ...column }, at) => ({
        ...column,
        ...(/number/.test(column.className) ? figure : {}),
        visible: !/off/.test(column.className),
        data: at,
        render: (value, kind) => (kind === "display" && !link ? DataTable.render.text().display(cell(value, digits)) : cell(value)),
        createdCell: (td, value, row) => {
          td.dataset.head = column.title;
          if (link) td.replaceChildren(link(row) ? make("a", { href: link(row), textContent: cell(value) }) : cell(value));
        },
      })),
      ...more,
    });
  const folder = (...parts) => parts.map(encodeURIComponent).join("/");

  // Truth and evidence of an item, filled in when it is opened

  const graded = document.querySelector("table[data-rubric]");
  let loading;
  for (const row of graded?.querySelectorAll("tbody tr") ?? []) {
    const more = make("details", {}, make("summary", { textContent: "Truth and evidence" }));
    row.cells[1].append(more);
    more.addEventListener("toggle", async () => {
      await (loading ??= script(graded.dataset.rubric));
      // Escaped where it was written, by the functions that write the pages.
      more.append(document.createRange().createContextualFragment(site.rubric[row.id.split("-")[1] - 1]));
    }, { once: true });
  }

  document.querySelectorAll("table.data").forEach((table) => sortable(table));

  if (site.briefs) {
    const texts = [0, 2, 3, 4];
    later(
      document.getElementById("briefs"),
      site.briefs.heads.map((title, at) => ({
        title,
        className: texts.includes(at) ? "filter" : "number",
        digits: title === "score" ? 3 : /^(correct|passed)$/.test(title) ? "%" : undefined,
        link: at === 0 ? (row) => folder(row[2], row[3], row[11]) : null,
      })),
      site.briefs.rows,
    );
  }

  // Two conditions

  // `root` is the folder of the site; null if it was not written.
  const compare = ({ conditions, pairs, site: root }) => {
    const at = (place, ...parts) => (root === null ? "" : root + folder(...parts) + (place === null ? "" : `#item-${place + 1}`));
    const shown = (number) => (number === null ? "–" : number.toFixed(3));
    const signed = (number) => {
      const text = shown(number).replace(/^-(?=0\.0*$)/, "");
      return number === null || text.startsWith("-") ? text : `+${text}`;
    };
    const minus = (a, b) => (a === null || b === null || a === undefined || b === undefined ? null : a - b);
    const fields = ["a", "b"].map((side) => document.getElementById(`side-${side}`));
    fields.forEach((field, at) => {
      field.append(...conditions.map((one, value) => make("option", { value, textContent: one.name })));
      const wanted = conditions.findIndex((one) => one.folder.join("/") === state.get("ab"[at]));
      field.value = wanted < 0 ? Math.min(at, conditions.length - 1) : wanted;
    });
    if (state.get("a") && !state.get("b") && fields[0].value === fields[1].value) fields[1].value = 0;
    let made = [];
    const draw = () => {
      const chosen = fields.map((field) => Number(field.value));
      const [a, b] = chosen.map((at) => conditions[at]);
      const common = Object.keys(a.means).filter((name) => name in b.means);
      const found = pairs[chosen.join()];
      const facts = document.getElementById("difference");
      facts.replaceChildren();
      for (const [name, value] of [["A", a.score], ["B", b.score], ["A − B", chosen[0] === chosen[1] ? "the same condition under the same judge" : found ?? "not computed, since condition and judge both differ, or nothing is shared"]])
        facts.append(make("dt", { textContent: name }), make("dd", { textContent: value }));
      for (const one of made) one.destroy();
      if (made.length) document.querySelectorAll("table.later").forEach((table) => {
        table.tHead?.remove();
        table.tBodies[0]?.remove();
      });
      tables = 0;
      const number = { className: "number" };
      const page = (one, name, place = null) => (one.pages[name] ? at(place, ...one.folder, one.pages[name]) : "");
      const own = (name) => a.pages[name] || b.pages[name]; // else the scenario may have no pages here
      const means = common.map((name) => [
        name, a.means[name] === null ? null : shown(a.means[name]), b.means[name] === null ? null : shown(b.means[name]),
        signed(minus(a.means[name], b.means[name])),
      ]);
      const items = common.flatMap((name) =>
        (site.items[name] ?? []).map(([id, text, tier, step, severity], at) => {
          const [x, y] = [a, b].map((one) => one.items[name]?.[at] ?? [0, 0]);
          const gap = minus(x[1] ? x[0] / x[1] : null, y[1] ? y[0] / y[1] : null);
          const counts = [x, y].map(([passed, graded]) => (graded ? `${passed}/${graded}` : null));
          return [name, id, text, ...counts, gap === null ? null : (gap < 0 ? "" : "+") + gap.toFixed(2), tier, step, severity, at];
        }),
      );
      const size = (gap) => (gap === null ? -1 : Math.abs(gap)); // items without a verdict under one side last
      items.sort((x, y) => size(y[5]) - size(x[5]));
      const [ofMeans, ofItems] = ["means", "items"].map((id) => document.getElementById(id));
      const scenario = ofMeans.dataset.scenario;
      made = [
        later(ofMeans, [
          { title: scenario, link: ([name]) => own(name) && at(null, "scenario", `${name}.html`) },
          { title: "A", ...number, link: ([name]) => page(a, name) },
          { title: "B", ...number, link: ([name]) => page(b, name) },
          { title: "A − B", ...number },
        ], means),
        later(ofItems, [
          { title: scenario, className: "filter" },
          { title: "item", link: (row) => own(row[0]) && at(row[9], "rubric", `${row[0]}.html`) },
          { title: ofItems.dataset.item, className: "own" },
          { title: "A", ...number, link: (row) => page(a, row[0], row[9]) },
          { title: "B", ...number, link: (row) => page(b, row[0], row[9]) },
          { title: "A − B", ...number },
          ...["tier", "step", "severity"].map((title) => ({ title, className: "filter off" })),
        ], items),
      ];
    };
    fields.forEach((field, at) =>
      field.addEventListener("change", () => {
        keep("ab"[at], conditions[Number(field.value)].folder.join("/"));
        draw();
      }),
    );
    draw();
  };
  if (site.compare?.conditions.length) compare(site.compare);

  // Charts: as wide as there is room for, drawn without evaluating code

  const shrink = (spec, by, width) => {
    for (const one of [spec, ...(spec.vconcat ?? spec.concat ?? [])]) {
      if (typeof one.width === "number") {
        const narrow = Math.max(80, one.width - by);
        for (const layer of one.layer ?? []) {
          const x = layer.encoding?.x;
          if (x?.value === one.width) x.value = narrow;
        }
        one.width = narrow;
      } else if (one.width?.step) {
        one.width.step *= Math.max(0.4, 1 - by / width);
        for (const { mark } of one.layer ?? []) if (mark.type === "text") mark.fontSize = Math.min(mark.fontSize, one.width.step / 2.4);
      }
    }
  };
  const chart = async (box) => {
    const spec = JSON.parse(box.dataset.chart);
    const room = box.clientWidth;
    spec.description ??= box.getAttribute("aria-label");
    const options = { renderer: "svg", ast: true, actions: false, tooltip: { theme: dark.matches ? "dark" : "light" } };
    const config = (spec.config ??= {});
    (config.axis ??= {}).labelLimit = Math.min(260, room * 0.32);
    if (room < 560) Object.assign((config.legend ??= {}), { columns: 2, labelLimit: room * 0.4, orient: "bottom" });
    let made;
    for (let tries = 0; tries < 3; tries++) {
      made?.finalize();
      made = await vegaEmbed(box, spec, options);
      const svg = box.querySelector("svg");
      const over = svg.getAttribute("width") - room;
      if (over <= 0) break;
      shrink(spec, over, made.view.signal("width") || room);
    }
  };
  if (window.vegaEmbed) await Promise.all([...document.querySelectorAll("[data-chart]")].map(chart));

  show(state.get("at") ?? decodeURIComponent(location.hash.slice(1)));
})();
