import { createHash } from 'node:crypto';
import type { GatewayAnswer } from '../access/visitor-verifier.js';

export interface LoginPage {
  status: number;
  /** The site that the visitor wants to see. */
  site: string;
  form: { action: string; csrf: string; next: string } | null;
  links: { href: string; label: string }[];
  /** An error message; empty: none yet. */
  problem: string;
  headers: GatewayAnswer['headers'];
}

const STYLE = `
:root{color-scheme:light dark;--line:#767676;--act:#0b57d0;--on:#fff;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--act:#a8c7fa;--on:#062e6f;--bad:#f2b8b5}}
*{box-sizing:border-box}
body{font:1rem/1.5 system-ui,sans-serif;max-width:24rem;margin:14vh auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}
label,input,button,a{display:block;width:100%}
input,button,a{font:inherit;padding:.6rem .75rem;margin:.35rem 0 1rem;border:1px solid var(--line);border-radius:.4rem}
button,a{background:var(--act);border-color:var(--act);color:var(--on);text-align:center;text-decoration:none;cursor:pointer}
:focus-visible{outline:3px solid var(--act);outline-offset:2px}
.problem{color:var(--bad);font-weight:600}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
// Has no `form-action`: browsers also apply it to redirects of the site after a login.
export const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`;

/** Fields of every answer about a visitor's identity. */
export const ANSWER_FIELDS: GatewayAnswer['headers'] = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  // Not `no-referrer`, which makes browsers send forms without an origin.
  ['referrer-policy', 'same-origin'],
  ['x-gw-error', 'visitor_auth'],
];

/** A page without scripts: `main` is HTML. */
export function plainPage(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<main>
${main}</main>
</html>
`;
}

/** Fields of such a page. */
export const PAGE_FIELDS: GatewayAnswer['headers'] = [
  ['content-type', 'text/html; charset=utf-8'],
  ['content-security-policy', POLICY],
  ['x-frame-options', 'DENY'],
  ['vary', 'accept, cookie'],
  ...ANSWER_FIELDS,
];

export function loginPage({ status, site, form, links, problem, headers }: LoginPage): GatewayAnswer {
  const main = `<h1>Sign in</h1>
<p>${escapeHtml(site)} is not open to everybody.</p>
${problemText(problem)}${form ? passwordForm(form, problem !== '') : ''}${links.map(linkButton).join('')}`;
  return { status, headers: [...PAGE_FIELDS, ...headers], body: plainPage(`Sign in - ${site}`, main) };
}

/** An answer for programs. */
export function unauthorizedAnswer(
  status: number,
  message: string,
  headers: GatewayAnswer['headers'] = [],
): GatewayAnswer {
  return {
    status,
    headers: [['content-type', 'application/json'], ...ANSWER_FIELDS, ...headers],
    body: `${JSON.stringify({ error: 'visitor_auth', message })}\n`,
  };
}

export function problemText(problem: string): string {
  return problem === '' ? '' : `<p class="problem" role="alert" id="problem">${escapeHtml(problem)}</p>\n`;
}

export function linkButton({ href, label }: { href: string; label: string }): string {
  return `<a href="${escapeHtml(href)}">${escapeHtml(label)}</a>\n`;
}

export function passwordForm({ action, csrf, next }: NonNullable<LoginPage['form']>, hasProblem: boolean): string {
  const described = hasProblem ? ' aria-invalid="true" aria-describedby="problem"' : '';
  return `<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus${described}>
<button>Continue</button>
</form>
`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
