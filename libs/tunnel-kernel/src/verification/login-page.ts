import type { GatewayAnswer, VisitorRequest } from '../access/visitor-verifier.js';
import { visitorWords, type ProblemName, type VisitorWords } from '../messages/index.js';
import { escapeHtml, failurePage, FORM_POLICY, pageFields, pageHtml } from '../pages/visitor-page.js';

export interface LoginPage {
  status: number;
  /** The site that the visitor wants to see. */
  site: string;
  form: { action: string; csrf: string; next: string } | null;
  links: { href: string; label: string }[];
  /** Why the visitor is not signed in; null: nothing was tried yet. */
  problem: ProblemName | null;
  headers: GatewayAnswer['headers'];
}

/** Fields of every answer about a visitor's identity. */
export const ANSWER_FIELDS: GatewayAnswer['headers'] = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  // Not `no-referrer`, which makes browsers send forms without an origin.
  ['referrer-policy', 'same-origin'],
  ['x-gw-error', 'visitor_auth'],
];

/** Paths that only browsers open or post forms to: of hosts, and of the pages for tunnels. */
const OWN_PATHS = /^\/(?:__gw|visit)\//;

/** Fields of a page with forms. */
export function formPageFields(words: VisitorWords, policy = FORM_POLICY): GatewayAnswer['headers'] {
  return [...pageFields(words, policy), ['x-frame-options', 'DENY'], ...ANSWER_FIELDS];
}

/** In the visitor's language. */
export function wordsFor({ headers }: Pick<VisitorRequest, 'headers'>): VisitorWords {
  return visitorWords(headers['accept-language']);
}

export function loginPage(
  words: VisitorWords,
  { status, site, form, links, problem, headers }: LoginPage,
): GatewayAnswer {
  const main = `<h1>${words.text('signIn.title')}</h1>
<p>${escapeHtml(words.text('signIn.private', { site }))}</p>
${problemText(words, problem)}${form ? passwordForm(words, form, problem !== null) : ''}${links.map(linkButton).join('')}`;
  const body = pageHtml(words, words.text('signIn.pageTitle', { site }), main);
  return { status, headers: [...formPageFields(words), ...headers], body };
}

/** A refusal: a page where a person reads it, else JSON. */
export function visitorRefusal(
  asked: Pick<VisitorRequest, 'method' | 'headers' | 'target'>,
  status: number,
  problem: ProblemName,
  headers: GatewayAnswer['headers'] = [],
): GatewayAnswer {
  const words = wordsFor(asked);
  const message = words.text(`problems.${problem}`);
  if (isRead(asked)) {
    return { status, headers: [...formPageFields(words), ...headers], body: failurePage(words, status, message) };
  }
  return {
    status,
    headers: [['content-type', 'application/json'], ...ANSWER_FIELDS, ...headers],
    body: `${JSON.stringify({ error: 'visitor_auth', message })}\n`,
  };
}

/** Whether a person reads the answer: a page was opened, or a form of the gateway was sent by a browser. */
function isRead({ method, headers, target }: Pick<VisitorRequest, 'method' | 'headers' | 'target'>): boolean {
  return (method === 'GET' || OWN_PATHS.test(target)) && (headers.accept?.includes('text/html') ?? false);
}

export function problemText(words: VisitorWords, problem: ProblemName | null): string {
  if (problem === null) return '';
  return `<p class="problem" role="alert" id="problem">${escapeHtml(words.text(`problems.${problem}`))}</p>\n`;
}

export function linkButton({ href, label }: { href: string; label: string }): string {
  return `<a href="${escapeHtml(href)}">${escapeHtml(label)}</a>\n`;
}

export function passwordForm(
  words: VisitorWords,
  { action, csrf, next }: NonNullable<LoginPage['form']>,
  hasProblem: boolean,
): string {
  const described = hasProblem ? ' aria-invalid="true" aria-describedby="problem"' : '';
  return `<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<label for="password">${words.text('signIn.password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus${described}>
<button>${words.text('signIn.submit')}</button>
</form>
`;
}
