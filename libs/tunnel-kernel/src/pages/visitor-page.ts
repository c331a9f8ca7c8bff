import { createHash } from 'node:crypto';
import type { TitleName, VisitorWords } from '../messages/index.js';

type Fields = [name: string, value: string][];

const STYLE = `
:root{color-scheme:light dark;--page:#f6f8fa;--card:#fff;--text:#1f2328;--muted:#59636e;--line:#d1d9e0;--field:#818b98;--act:#0b57d0;--on:#fff;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--card:#151b23;--text:#f0f6fc;--muted:#9198a1;--line:#3d444d;--field:#656c76;--act:#a8c7fa;--on:#062e6f;--bad:#f2b8b5}}
*{box-sizing:border-box}
body{font:1rem/1.5 system-ui,sans-serif;background:var(--page);color:var(--text);max-width:28rem;margin:12vh auto;padding:0 1rem;overflow-wrap:anywhere}
main{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.5rem}
h1{font-size:1.5rem;line-height:1.25;margin:0}
p{margin:.75rem 0 0}
form,main>a{margin-top:1.25rem}
label,input,button,a{display:block;width:100%}
label{font-weight:600}
input,button,a{font:inherit;padding:.6rem .75rem;border:1px solid var(--field);border-radius:.4rem}
input{margin:.35rem 0 1rem;background:var(--card);color:var(--text)}
button,a{background:var(--act);border-color:var(--act);color:var(--on);font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
:focus-visible{outline:3px solid var(--act);outline-offset:2px}
.problem{color:var(--bad);font-weight:600}
.note{color:var(--muted);font-size:.875rem}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
// Has no `form-action`: browsers also apply it to redirects of the site after a login.
const CONTENT_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'`;
/** Of pages with forms, which no other site may frame. */
export const FORM_POLICY = `${CONTENT_POLICY}; frame-ancestors 'none'`;

const TITLES: Readonly<Record<number, TitleName>> = {
  400: 'badRequest',
  401: 'forbidden',
  403: 'forbidden',
  404: 'notFound',
  405: 'methodNotAllowed',
  408: 'requestTimeout',
  413: 'tooLarge',
  415: 'unsupported',
  417: 'expectationFailed',
  421: 'misdirected',
  429: 'tooManyRequests',
  431: 'headersTooLarge',
  501: 'notImplemented',
  502: 'badGateway',
  503: 'unavailable',
  504: 'gatewayTimeout',
};

/** Fields of a page in the language of `words`. `policy`: null for none. */
export function pageFields({ language }: VisitorWords, policy: string | null = CONTENT_POLICY): Fields {
  return [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-language', language],
    ['vary', 'accept, accept-language, cookie'],
    ...(policy === null ? [] : ([['content-security-policy', policy]] satisfies Fields)),
  ];
}

/** A page without scripts and without requests to anywhere: `main` is HTML. */
export function pageHtml({ language }: VisitorWords, title: string, main: string): string {
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<main>
${main}</main>
</html>
`;
}

/** A page that says why something cannot be shown. */
export function failurePage(words: VisitorWords, status: number, text: string): string {
  const title = words.text(`titles.${TITLES[status] ?? 'error'}`);
  const main = `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(text)}</p>\n<p class="note">${status}</p>\n`;
  return pageHtml(words, title, main);
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
