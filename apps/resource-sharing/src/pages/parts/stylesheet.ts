/** Where the stylesheet of all pages is. */
export const STYLESHEET_PATH = '/site.css';

/** One stylesheet, light or dark as the reader's system is. */
export const STYLESHEET = `:root {
  color-scheme: light dark;
  --ground: #fff;
  --panel: #f4f5f7;
  --text: #1b1d22;
  --quiet: #565c66;
  --line: #b9bec7;
  --accent: #0b5cad;
  --on-accent: #fff;
  --bad: #a5151e;
  --good: #146c2e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171b;
    --panel: #1f2228;
    --text: #e8eaed;
    --quiet: #a7adb8;
    --line: #4b515c;
    --accent: #7fb8f5;
    --on-accent: #10131a;
    --bad: #ff9a94;
    --good: #7dd694;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--accent); }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible, summary:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--ground); padding: 0.5rem; z-index: 1; }
header, main, footer { max-width: 64rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: center; border-bottom: 1px solid var(--line); }
header nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; flex: 1; }
header form { margin: 0; }
.brand { font-weight: 700; text-decoration: none; color: inherit; }
footer { color: var(--quiet); border-top: 1px solid var(--line); margin-top: 2rem; }
main.narrow { max-width: 34rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; }
h1, h2, p, dd, li { overflow-wrap: anywhere; }
td { overflow-wrap: break-word; }
time { white-space: nowrap; }
.quiet, .hint { color: var(--quiet); }
.hint { display: block; font-size: 0.9rem; }
.panel, .problems, .notice, .secret { background: var(--panel); border-left: 0.3rem solid var(--line); padding: 0.75rem 1rem; margin: 1rem 0; }
.problems { border-color: var(--bad); }
.problems h2 { margin: 0; color: var(--bad); }
.notice { border-color: var(--good); }
.secret { border-color: var(--accent); }
.secret code { display: block; font-size: 1.05rem; user-select: all; overflow-wrap: anywhere; }
.field, fieldset { margin: 0 0 1rem; }
label, legend { font-weight: 600; }
fieldset { border: 1px solid var(--line); padding: 0.5rem 1rem; }
fieldset label { font-weight: 400; display: inline; }
.choice { display: grid; grid-template-columns: 1.5rem 1fr; gap: 0.25rem; padding: 0.25rem 0; align-items: start; }
.choice input { margin: 0.35rem 0 0; width: auto; }
input, select, textarea { display: block; width: 100%; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 0.25rem; padding: 0.45rem 0.6rem; }
[aria-invalid="true"] { border-color: var(--bad); border-width: 2px; }
.wrong { color: var(--bad); font-weight: 600; display: block; }
button { font: inherit; cursor: pointer; padding: 0.45rem 1rem; border-radius: 0.25rem; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); }
button.plain { background: transparent; color: var(--accent); }
button.danger { background: transparent; border-color: var(--bad); color: var(--bad); }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1rem 0; }
.inline { display: inline-block; margin: 0; }
.table { overflow-x: auto; margin-bottom: 1rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--quiet); }
th, td { text-align: left; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: 0.25rem 1rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
pre { background: var(--panel); padding: 0.75rem; overflow-x: auto; }
.tag { border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.6rem; font-size: 0.85rem; white-space: nowrap; }
@media (prefers-reduced-motion: no-preference) { a, button { transition: color 0.1s; } }
`;
