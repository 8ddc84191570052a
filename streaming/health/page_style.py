"""The status page's style sheet: one column that a phone takes too, light or dark as the reader's system is."""

STYLE = """
:root {
  --paper: #f6f7f9; --sheet: #ffffff; --ink: #1b2430; --soft: #5b6776; --line: #e1e5ea; --tint: #f0f2f5;
  --good: #1a7f4b; --busy: #2563c4; --warn: #a25a00; --bad: #c02633; --accent: #2563c4;
  --warn-tint: #fff7e8; --warn-line: #f0d9ab; --bad-tint: #fdf0f0; --bad-line: #f0c4c6;
  --busy-tint: #eef4fd; --busy-line: #c9dbf5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11151b; --sheet: #191f27; --ink: #dfe5ec; --soft: #93a0b0; --line: #2a323d; --tint: #202731;
    --good: #4cc38a; --busy: #7fb0ff; --warn: #f0b455; --bad: #ff8087; --accent: #7fb0ff;
    --warn-tint: #262015; --warn-line: #4d3f1f; --bad-tint: #2a191c; --bad-line: #5a2b31;
    --busy-tint: #18222f; --busy-line: #2b4364;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
main, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
main { padding-top: 28px; }
h1, h2, h3, p, dl, dd { margin: 0; }
h1 { font-size: 24px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 15px; font-weight: 650; }
h3 { font-size: 15px; font-weight: 650; overflow-wrap: anywhere; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
code { font: 13px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { white-space: pre-wrap; }
section { margin-top: 32px; }
section > h2 { margin-bottom: 10px; }
header { display: flex; justify-content: space-between; align-items: flex-start; gap: 16px; }
.detail, .note, .empty { color: var(--soft); }
.detail { margin-top: 2px; }
.note { font-size: 13.5px; overflow-wrap: anywhere; }
.state { display: inline-flex; align-items: baseline; gap: 8px; white-space: nowrap; }
header .state {
  margin-top: 2px; padding: 5px 14px 5px 12px; border: 1px solid var(--line); border-radius: 999px;
  background: var(--sheet); font-weight: 600;
}
.dot { width: 8px; height: 8px; border-radius: 50%; background: var(--soft); flex: none; transform: translateY(-1px); }
.good .dot { background: var(--good); }
.busy .dot { background: var(--busy); }
.warn .dot { background: var(--warn); }
.bad .dot { background: var(--bad); }
.warn.state { color: var(--warn); }
.bad.state { color: var(--bad); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 16px; margin-top: 24px; }
.card { background: var(--sheet); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px 12px; }
.card h2 { font-size: 13.5px; font-weight: 500; color: var(--soft); }
.card .value { margin: 2px 0; font-size: 21px; line-height: 1.35; font-weight: 650; letter-spacing: -0.01em; }
.card.warn .note { color: var(--warn); }
.spark { display: block; width: 100%; height: 36px; margin-top: 6px; overflow: visible; }
.spark .area { fill: var(--accent); opacity: 0.12; }
.spark .line { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-linejoin: round; }
.spark .end { fill: none; stroke: var(--accent); stroke-width: 6; stroke-linecap: round; }
.spark .line, .spark .end { vector-effect: non-scaling-stroke; }
.notice, .parked {
  border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; background: var(--sheet);
  overflow-wrap: anywhere;
}
.notice { margin-top: 20px; }
.notice > h2 { margin-bottom: 4px; }
.notice p + p, .parked p + p { margin-top: 4px; }
.notice.busy { background: var(--busy-tint); border-color: var(--busy-line); }
.notice.warn, .parked { background: var(--warn-tint); border-color: var(--warn-line); }
.notice.bad { background: var(--bad-tint); border-color: var(--bad-line); }
.notice.bad > h2 { color: var(--bad); }
.notice.warn > h2 { color: var(--warn); }
.parked + .parked { margin-top: 12px; }
.parked h3 { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 10px; margin-bottom: 4px; }
.reason { color: var(--warn); font-weight: 400; }
table {
  width: 100%; border-collapse: separate; border-spacing: 0; background: var(--sheet);
  border: 1px solid var(--line); border-radius: 10px; overflow: hidden;
}
th, td { padding: 8px 16px; text-align: left; vertical-align: baseline; }
th { background: var(--tint); color: var(--soft); font-size: 13.5px; font-weight: 500; white-space: nowrap; }
td { border-top: 1px solid var(--line); }
td:first-child { overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
.table { font-weight: 550; }
.what { display: block; overflow-wrap: anywhere; }
.warning { display: block; color: var(--warn); }
footer { margin-top: 36px; padding-bottom: 40px; color: var(--soft); font-size: 13.5px; }
footer dl { display: flex; flex-wrap: wrap; gap: 4px 28px; border-top: 1px solid var(--line); padding-top: 16px; }
footer dl div { display: flex; gap: 8px; min-width: 0; }
footer dd { color: var(--ink); overflow-wrap: anywhere; }
footer p { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 10px; }
@media (max-width: 960px) { th, td { padding: 8px; } th:first-child, td:first-child { padding-left: 16px; } }
@media (max-width: 900px) { .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (max-width: 700px) {
  main, footer { padding-left: 16px; padding-right: 16px; }
  main { padding-top: 20px; }
  .cards { gap: 12px; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody { display: block; }
  tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; padding: 10px 16px; }
  tr + tr { border-top: 1px solid var(--line); }
  td { grid-column: 1 / -1; display: flex; justify-content: space-between; gap: 20px; padding: 1px 0; border: 0; }
  td:first-child, td:nth-child(2) { grid-column: auto; display: block; padding-bottom: 3px; }
  td:first-child { padding-left: 0; }
  td:nth-child(2) { padding-left: 16px; }
  td::before { content: attr(data-label); color: var(--soft); white-space: nowrap; }
  td:first-child::before, td:nth-child(2)::before { content: none; }
  td.nothing { display: none; }
  td.number { white-space: normal; }
  .what { text-align: right; }
  footer dl { display: block; }
  footer dl div { padding: 1px 0; }
  footer dt { min-width: 110px; }
}
@media (max-width: 430px) {
  .cards { grid-template-columns: minmax(0, 1fr); }
}
""".strip()
