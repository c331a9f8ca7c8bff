import { LANGUAGE_NAMES, LANGUAGES } from '@gatehouse/i18n';
import type { AppError } from '@gatehouse/platform';
import type { Response } from 'express';
import { errorText } from '../../messages/error-text.js';
import { frame } from '../../messages/en/frame.js';
import { library } from '../../messages/en/library.js';
import { THEMES } from '@gatehouse/contracts';
import { MAX_UNREAD } from '../../notices/notices.service.js';
import type { Visitor } from '../../wire/visitor.js';
import { actionForm, hiddenField, tokenField, type FieldName } from './forms.js';
import { Html, markup, render, type Content } from './markup.js';
import { siteAssets } from './site-assets.js';

export interface Page {
  readonly title: string;
  readonly body: Content;
  /** Default: 200, or the status of the problem. */
  readonly status?: number;
  /** The error of a form: shown first, and read aloud by screen readers. */
  readonly problem?: AppError | undefined;
  /** The result of the last action. */
  readonly notice?: string | undefined;
  /** Where forms may redirect besides this site: formTargetsOf(). */
  readonly formTargets?: string | undefined;
  /** Hides the referrer from all sites. Default: only this site gets it. */
  readonly secretive?: boolean;
  /** One form or message in the centre, without the navigation. */
  readonly narrow?: boolean;
}

/** Sends a page; it is not cached, because it is only for its visitor. */
export function sendPage(response: Response, visitor: Visitor, page: Page): void {
  const document = layout(visitor, page);
  response
    .status(page.status ?? page.problem?.status ?? 200)
    .setHeader('Content-Type', 'text/html; charset=utf-8')
    .setHeader('Content-Language', visitor.words.language)
    .setHeader('Cache-Control', 'no-store')
    .setHeader('Content-Security-Policy', policy(page.formTargets))
    .setHeader('Referrer-Policy', page.secretive === true ? 'no-referrer' : 'same-origin')
    .end(document);
}

/**
 * Only files of this service are loaded, no text can become a script, and the page cannot be framed (RFC 9700 section
 * 4.16).
 */
function policy(formTargets: string | undefined): string {
  const targets = formTargets === undefined ? "'self'" : `'self' ${formTargets}`;
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    `form-action ${targets}; frame-ancestors 'none'; base-uri 'none'; ` +
    "require-trusted-types-for 'script'; trusted-types 'none'"
  );
}

function layout(visitor: Visitor, page: Page): string {
  const { words, theme } = visitor;
  const title = page.problem === undefined ? page.title : words.text('frame.errorTitle', { title: page.title });
  const { script, styles, icon } = siteAssets();
  return render(markup`<!doctype html>
<html lang="${words.language}" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${words.text('home.intro')}">
<meta name="color-scheme" content="light dark">
<title>${title} &middot; Gatehouse</title>
${icon !== undefined && markup`<link rel="icon" href="${icon}">`}
${styles.map((style) => markup`<link rel="stylesheet" href="${style}">`)}
${script !== undefined && markup`<script type="module" src="${script}"></script>`}
</head>
<body>
${page.narrow === true ? narrowBody(visitor, page) : wideBody(visitor, page)}
</body>
</html>
`);
}

function narrowBody(visitor: Visitor, page: Page): Html {
  return markup`<div class="narrow-page">
${skipLink(visitor)}
<main id="content" tabindex="-1">
${brand(visitor)}
${content(visitor, page)}
</main>
<footer>${preferences(visitor)}</footer>
</div>`;
}

function wideBody(visitor: Visitor, page: Page): Html {
  const { words, account } = visitor;
  return markup`<div class="shell">
${skipLink(visitor)}
<header class="side">
<div class="actions">${brand(visitor)}<a class="button menu-button" href="#menu">${words.text('frame.menu')}</a></div>
<nav id="menu" aria-label="${words.text('frame.site')}">${navigation(visitor)}</nav>
<div class="foot">
${account !== null && markup`<span class="muted">${account.username}</span>${actionForm(visitor, '/logout', words.text('frame.signOut'))}`}
<a href="/help/">${words.text('frame.documentation')}</a>
<a href="/docs">${words.text('frame.apiReference')}</a>
${preferences(visitor)}
</div>
</header>
<main id="content" tabindex="-1">
${content(visitor, page)}
<footer class="muted">${timeZoneNote(visitor)}</footer>
</main>
</div>`;
}

function content(visitor: Visitor, page: Page): Html {
  return markup`${visitor.cookiesAreShared && markup`<p class="notice bad" role="note">${visitor.words.text('frame.withoutHttps')}</p>`}
${summary(visitor, page)}
<header class="page-head"><h1>${page.title}</h1></header>
${page.body}`;
}

function skipLink({ words }: Visitor): Html {
  return markup`<a class="skip" href="#content">${words.text('frame.skip')}</a>`;
}

function brand({ words }: Visitor): Html {
  const { icon } = siteAssets();
  return markup`<a class="brand brand-link" href="/">${icon !== undefined && markup`<img src="${icon}" width="30" height="30" alt="">`}
<span>Gatehouse<small>${words.text('frame.product')}</small></span></a>`;
}

type LinkName = Exclude<keyof typeof frame.frame, 'themes'>;

const NOTICES = '/notices';

const STRANGERS: readonly (readonly [path: string, name: LinkName, icon: string])[] = [
  ['/', 'home', 'home'],
  ['/login', 'signIn', 'account'],
  ['/register', 'register', 'users'],
];
const MEMBERS: typeof STRANGERS = [
  ['/', 'home', 'home'],
  ['/titles', 'titles', 'logs'],
  ['/unlocked', 'unlocked', 'access'],
  ['/points', 'points', 'traffic'],
  ['/shares', 'shares', 'shares'],
  ['/authorized', 'authorized', 'connections'],
  [NOTICES, 'notices', 'notices'],
  ['/account', 'account', 'account'],
  ['/keys', 'keys', 'keys'],
  ['/developer', 'developer', 'developer'],
];
const ADMINISTRATORS: typeof STRANGERS = [['/admin', 'administration', 'settings']];

function navigation(visitor: Visitor): Html {
  const { account, words, path } = visitor;
  const links =
    account === null ? STRANGERS : account.role === 'administrator' ? [...MEMBERS, ...ADMINISTRATORS] : MEMBERS;
  const { icons } = siteAssets();
  // A single share belongs to the library; `/shares` lists a member's own.
  const place = /^\/shares\/[^/]/.test(path) ? '/titles' : path;
  const items = links.map(([href, name, icon]) => {
    const isHere =
      href === '/' ? place === '/' : place.startsWith(href) && /^(?:[/?]|$)/.test(place.slice(href.length));
    const drawing =
      icons !== undefined &&
      markup`<svg class="icon" width="18" height="18" aria-hidden="true" focusable="false"><use href="${icons}#${icon}"/></svg>`;
    return markup`<li><a href="${href}"${isHere && new Html(' aria-current="page"')}>${drawing}${words.text(`frame.${name}`)}${href === NOTICES && unreadBadge(visitor)}</a></li>`;
  });
  return markup`<ul>${items}</ul>`;
}

/** How many notices are unread; empty without any. */
export function unreadBadge({ words, unreadNotices }: Visitor): Content {
  if (unreadNotices === 0) return undefined;
  const shown = unreadNotices > MAX_UNREAD ? `${MAX_UNREAD}+` : unreadNotices;
  return markup` <span class="badge info"><span aria-hidden="true">${shown}</span><span class="hidden">${words.text('notice.count', { count: String(shown) })}</span></span>`;
}

function preferences(visitor: Visitor): Html {
  const { words, theme } = visitor;
  const languages = LANGUAGES.map(
    (language) =>
      markup`<option value="${language}" lang="${language}"${language === words.language && new Html(' selected')}>${LANGUAGE_NAMES[language]}</option>`,
  );
  const themes = THEMES.map(
    (name) =>
      markup`<option value="${name}"${name === theme && new Html(' selected')}>${words.text(`frame.themes.${name}`)}</option>`,
  );
  return markup`<form class="preferences" method="post" action="/preferences">${tokenField(visitor)}${hiddenField('return_to', visitor.path)}
<select name="language" aria-label="${words.text('frame.language')}">${languages}</select>
<select name="theme" aria-label="${words.text('frame.theme')}">${themes}</select>
<button class="small">${words.text('frame.apply')}</button>
</form>`;
}

function timeZoneNote({ words, timeZone }: Visitor): Content {
  return words.rich<Html, 'frame.timeZone'>('frame.timeZone', {
    zone: markup`<span data-time-zone>${timeZone}</span>`,
  });
}

function summary({ words }: Visitor, { problem, notice }: Page): Content {
  if (problem === undefined) return notice !== undefined && markup`<p class="notice" role="status">${notice}</p>`;
  const items = problem.details.map(({ field, message }) => {
    const name = field.replace(/\[\d+\]$/, '');
    const label = Object.hasOwn(frame.fields, name)
      ? words.text(`fields.${name as FieldName}`)
      : name.replaceAll('_', ' ');
    return markup`<li><a href="#${name}">${label}: ${errorText(words.language, message)}</a></li>`;
  });
  return markup`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${words.text('frame.problem')}</h2>
${items.length === 0 ? markup`<p>${problemText(words, problem)}</p>` : markup`<ul>${items}</ul>`}
</div>`;
}

/** The error in the reader's language, if the catalogue has it. */
export function problemText(words: Visitor['words'], { code, message, retryAfterSeconds }: AppError): Content {
  if (!isKnownError(code)) return `${errorText(words.language, message)}${words.language === 'en' ? '.' : '。'}`;
  const minutes = Math.ceil((retryAfterSeconds ?? 0) / 60);
  return [words.text(`errors.${code}`), minutes > 0 && [' ', words.text('errors.tryAgain', { minutes })]];
}

type KnownError = Exclude<keyof typeof library.errors, 'tryAgain'>;

function isKnownError(code: string): code is KnownError {
  return code !== 'tryAgain' && Object.hasOwn(library.errors, code);
}
