import type { GatewayAnswer } from '../access/visitor-verifier.js';
import { escapeHtml, linkButton, PAGE_FIELDS, passwordForm, plainPage, POLICY, problemText } from './login-page.js';

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
  /** An error message; empty: none yet. */
  problem: string;
  headers: GatewayAnswer['headers'];
}

/** Apart from links, nothing here leads to another site. */
const VISIT_POLICY = `${POLICY}; form-action 'self'`;

/** The page on which visitors of a raw tunnel have their address admitted. */
export function visitPage({ status, problem, headers, ...page }: VisitPage): GatewayAnswer {
  const name = `Tunnel ${page.tunnelId}`;
  const main = `<h1>${name}</h1>
${problemText(problem)}${standingText(page)}${page.form ? passwordForm({ ...page.form, next: '' }, problem !== '') : ''}${page.questions
    .map(questionForm)
    .join('')}${page.links.map(linkButton).join('')}<p>What is let in is the address ${escapeHtml(page.address)}, with \
everybody who shares it: a household, an office, a mobile network. A program that comes from another address, or by \
IPv6 where this page came by IPv4, is not.</p>
`;
  const fields = PAGE_FIELDS.map(([field, value]): [string, string] =>
    field === 'content-security-policy' ? [field, VISIT_POLICY] : [field, value],
  );
  return { status, headers: [...fields, ...headers], body: plainPage(`Sign in - ${name}`, main) };
}

function standingText({ standing, address }: Pick<VisitPage, 'standing' | 'address'>): string {
  if (!standing) return `<p>Not open to everybody. ${escapeHtml(address)} is not let in at the moment.</p>\n`;
  const until = new Date(standing.until).toISOString().slice(0, 19).replace('T', ' ');
  const extent = standing.once ? 'for one connection, ' : '';
  return `<p role="status">${escapeHtml(address)} is let in ${extent}until ${until} UTC.</p>\n`;
}

function questionForm({ action, csrf }: { action: string; csrf: string }): string {
  return `<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<button>Ask to be let in</button>
</form>
`;
}
