"""What every page carries in itself: its colours, and the script that sorts tables."""

STYLE = """
:root{color-scheme:light dark;--ink:#1d2329;--soft:#56616c;--line:#d3d9df;--back:#fff;--tint:#f3f5f8;
--link:#1a5490;--good:#22663a;--bad:#a02832;--warn:#fdf3d8;--warnline:#a87a10;--shade:#1d232940}
@media screen and (prefers-color-scheme:dark){:root{--shade:#e6e9ed50;
--ink:#e6e9ed;--soft:#a5afba;--line:#3b434c;--back:#15191e;
--tint:#1e242b;--link:#8cbdf0;--good:#86cf9c;--bad:#f2959c;--warn:#332a12;--warnline:#c9a24a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:1.25rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--back)}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 .75rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.25rem 0 .6rem;overflow-wrap:anywhere}
h3{font-size:1rem;margin:1.5rem 0 .4rem}
a{color:var(--link)}
a,b,small,.soft{unicode-bidi:isolate}
nav{font-size:.9rem;overflow-wrap:anywhere}
small,.soft{color:var(--soft);font-size:.85rem}
.notice{background:var(--warn);border-left:4px solid var(--warnline);padding:.6rem .9rem;margin:.75rem 0}
.scroll{overflow-x:auto;margin:.5rem 0;background:
linear-gradient(to left,var(--back) 50%,transparent) right/2.5rem 100% no-repeat local,
linear-gradient(to left,var(--shade),transparent) right/1rem 100% no-repeat scroll}
.scroll:focus-visible,a:focus-visible,button:focus-visible,input:focus-visible,summary:focus-visible{
outline:2px solid var(--link);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;color:var(--soft);padding:.25rem 0}
caption span{display:block;position:sticky;left:0;width:fit-content;max-width:calc(100vw - 3rem)}
.scroll tbody th,.scroll thead th:first-child{position:sticky;left:0;background:var(--back)}
th,td{text-align:left;vertical-align:top;padding:.4rem .5rem;border-bottom:1px solid var(--line)}
thead th{border-bottom:2px solid var(--soft);vertical-align:bottom;white-space:nowrap}
tbody th{font-weight:400;min-width:11rem;max-width:20rem;overflow-wrap:anywhere}
.narrow{max-width:46rem}
li{overflow-wrap:anywhere}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:inherit;
white-space:nowrap;text-decoration:underline dotted var(--soft);text-underline-offset:.25em}
th[aria-sort=ascending] button::after{content:" \\2191";color:var(--ink)}
th[aria-sort=descending] button::after{content:" \\2193";color:var(--ink)}
dl.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1.25rem;margin:.75rem 0}
dl.facts dt{color:var(--soft)}
dl.facts dd{margin:0;overflow-wrap:anywhere}
.own{overflow-wrap:anywhere;unicode-bidi:isolate;overflow:clip}
pre.own{white-space:pre-wrap;font:.95rem/1.5 system-ui,sans-serif;background:var(--tint);padding:1rem;
margin:.5rem 0}
.mark{font:600 .72em ui-monospace,monospace;border:1px solid var(--bad);color:var(--bad);border-radius:3px;
padding:0 .2em}
.none{color:var(--soft)}
.verdict{font-weight:600;white-space:nowrap}
.failed .verdict{color:var(--bad)}
.passed .verdict{color:var(--good)}
details{margin:.35rem 0}
summary{cursor:pointer;color:var(--link)}
blockquote{margin:.3rem 0;padding-left:.7rem;border-left:3px solid var(--line)}
fieldset{border:1px solid var(--line);border-radius:4px;padding:.4rem .9rem;margin:.75rem 0;width:fit-content}
.choice{margin-right:1rem;white-space:nowrap}
.filter:has(#only-failed:checked) tbody tr:not(.failed),
.filter:has(#only-missing:checked) tbody tr:not(.missing),
.filter:has(#only-passed:checked) tbody tr:not(.passed){display:none}
article{border-top:1px solid var(--line);padding:.75rem 0}
article:target{background:var(--tint);box-shadow:-.75rem 0 var(--tint),.75rem 0 var(--tint)}
article h2{margin:.25rem 0}
.scroll svg{display:block}
.verdicts tbody th{min-width:6rem;overflow-wrap:anywhere}
.verdicts td:nth-child(2){min-width:8.5rem}
@media screen and (max-width:44rem){body{padding:.9rem}
.scroll tbody th{min-width:8rem;max-width:9rem}
.verdicts td:last-child::before{content:"Judge's reason: ";color:var(--soft)}
dl.facts{grid-template-columns:1fr;gap:0}
dl.facts dd{margin-bottom:.5rem}
.verdicts,.verdicts caption,.verdicts tbody,
.verdicts tr,.verdicts th,.verdicts td{display:block;border:0;padding:.1rem 0}
.verdicts thead{position:absolute;clip-path:inset(50%)}
.verdicts tr{border-bottom:1px solid var(--line);padding:.7rem 0}}
@page{size:A4 landscape;margin:12mm}
@media print{:root{color-scheme:light}fieldset,nav{display:none}body{max-width:none;padding:0;font-size:.8rem}
.scroll{overflow:visible;background:none}
.scroll tbody th,.scroll thead th:first-child{position:static;min-width:0}
.scroll th,.scroll td{padding:.2rem .3rem}
.scroll table{font-size:.65rem}
.scroll small{font-size:1em}
thead th,th button,.number{white-space:normal}
caption span{position:static;max-width:none}
.scroll svg{max-width:100%;height:auto}
tr,.scroll svg{break-inside:avoid}
h1,h2,caption{break-after:avoid}
pre.own{font-size:.8rem}.verdicts{font-size:.7rem}
body>details::details-content{content-visibility:visible;block-size:auto}}
"""

# Without the script every table reads the same, in the order in which it was written.
SCRIPT = """
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
"""
