import type { AppError } from '@gatehouse/platform';
import type { Response } from 'express';
import { actionForm } from './forms.js';
import { Html, markup, render, type Content } from './markup.js';
import { STYLESHEET_PATH } from './stylesheet.js';
import type { Visitor } from '../../wire/visitor.js';

export interface Page {
  readonly title: string;
  readonly body: Content;
  /** Default: 200, or the problem's. */
  readonly status?: number;
  /** What was wrong with a form: shown first, and read aloud by screen readers. */
  readonly problem?: AppError | undefined;
  /** What was just done. */
  readonly notice?: string | undefined;
  /** Where forms may lead beside this site: formTargetsOf(). */
  readonly formTargets?: string | undefined;
  /** No site learns where a visitor came from. Default: only this site does. */
  readonly secretive?: boolean;
  readonly narrow?: boolean;
}

/** Sends a page; what it shows is its visitor's alone, so nobody keeps a copy. */
export function sendPage(response: Response, visitor: Visitor, page: Page): void {
  const document = layout(visitor, page);
  response
    .status(page.status ?? page.problem?.status ?? 200)
    .setHeader('Content-Type', 'text/html; charset=utf-8')
    .setHeader('Cache-Control', 'no-store')
    .setHeader('Content-Security-Policy', policy(page.formTargets))
    .setHeader('Referrer-Policy', page.secretive === true ? 'no-referrer' : 'same-origin')
    .end(document);
}

/** Nothing but our stylesheet is loaded, nothing runs, and nobody frames the page (RFC 9700 section 4.16). */
function policy(formTargets: string | undefined): string {
  const targets = formTargets === undefined ? "'self'" : `'self' ${formTargets}`;
  return (
    "default-src 'none'; style-src 'self'; img-src data:; " +
    `form-action ${targets}; frame-ancestors 'none'; base-uri 'none'`
  );
}

function layout(visitor: Visitor, page: Page): string {
  const title = `${page.problem === undefined ? '' : 'Error: '}${page.title} · Gatehouse`;
  return render(markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLESHEET_PATH}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="/">Gatehouse</a>
${navigation(visitor)}
</header>
<main id="content"${page.narrow === true ? new Html(' class="narrow"') : ''}>
${visitor.warning !== undefined && markup`<p class="notice" role="note">${visitor.warning}</p>`}
${summary(page)}
<h1>${page.title}</h1>
${page.body}
</main>
<footer><a href="/docs">Interface description</a></footer>
</body>
</html>
`);
}

function navigation(visitor: Visitor): Html {
  const { account } = visitor;
  if (account === null) {
    return markup`<nav aria-label="Site"><a href="/login">Log in</a> <a href="/register">Register</a></nav>`;
  }
  return markup`<nav aria-label="Site">
<a href="/account">Account</a>
<a href="/shares">Shares</a>
<a href="/authorized">Authorised applications</a>
<a href="/keys">API keys</a>
<a href="/developer">Developer</a>
${account.role === 'administrator' && markup`<a href="/admin">Administration</a>`}
</nav>
<span class="quiet">${account.username}</span>
${actionForm(visitor, '/logout', 'Log out', { style: 'plain' })}`;
}

function summary({ problem, notice }: Page): Content {
  if (problem === undefined) return notice !== undefined && markup`<p class="notice" role="status">${notice}</p>`;
  const items = problem.details.map(({ field, message }) => {
    const name = field.replace(/\[\d+\]$/, '');
    return markup`<li><a href="#${name}">${name.replaceAll('_', ' ')}: ${message}</a></li>`;
  });
  return markup`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>There is a problem</h2>
${items.length === 0 ? markup`<p>${problem.message}.</p>` : markup`<ul>${items}</ul>`}
</div>`;
}
