import type { GatewayAnswer } from '../access/visitor-verifier.js';
import type { ProblemName, VisitorWords } from '../messages/index.js';
import { escapeHtml, FORM_POLICY, pageHtml } from '../pages/visitor-page.js';
import { formPageFields, linkButton, passwordForm, problemText } from './login-page.js';

export interface VisitPage {
  status: number;
  tunnelId: number;
  /** The address that would be admitted. */
  address: string;
  /** The current grant; null: none. `until`: milliseconds since the epoch. */
  standing: { until: number; once: boolean } | null;
  /** Form for a shared password. */
  form: { action: string; csrf: string } | null;
  /** Forms without fields: another service decides. */
  questions: { action: string; csrf: string }[];
  links: { href: string; label: string }[];
  /** Why the address has no access; null: nothing was tried yet. */
  problem: ProblemName | null;
  headers: GatewayAnswer['headers'];
}

/** Apart from links, nothing here leads to another site. */
const VISIT_POLICY = `${FORM_POLICY}; form-action 'self'`;

/** The page on which visitors of a raw tunnel have their address admitted. */
export function visitPage(words: VisitorWords, { status, problem, headers, ...page }: VisitPage): GatewayAnswer {
  const title = words.text('tunnel.title', { id: String(page.tunnelId) });
  const main = [
    `<h1>${title}</h1>\n`,
    problemText(words, problem),
    standingText(words, page),
    page.form ? passwordForm(words, { ...page.form, next: '' }, problem !== null) : '',
    ...page.questions.map((question) => questionForm(words, question)),
    ...page.links.map(linkButton),
    `<p class="note">${escapeHtml(words.text('tunnel.shared', { address: page.address }))}</p>\n`,
  ].join('');
  const body = pageHtml(words, words.text('signIn.pageTitle', { site: title }), main);
  return { status, headers: [...formPageFields(words, VISIT_POLICY), ...headers], body };
}

function standingText(words: VisitorWords, { standing, address }: Pick<VisitPage, 'standing' | 'address'>): string {
  if (!standing) return `<p>${escapeHtml(words.text('tunnel.noAccess', { address }))}</p>\n`;
  const time = new Date(standing.until).toISOString().slice(0, 19).replace('T', ' ');
  const text = words.text(standing.once ? 'tunnel.accessOnce' : 'tunnel.access', { address, time });
  return `<p role="status">${escapeHtml(text)}</p>\n`;
}

function questionForm(words: VisitorWords, { action, csrf }: { action: string; csrf: string }): string {
  return `<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<button>${words.text('tunnel.request')}</button>
</form>
`;
}
