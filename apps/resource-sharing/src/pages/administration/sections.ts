import { Html, markup } from '../parts/markup.js';

const SECTIONS = [
  ['/admin/applications', 'Applications'],
  ['/admin/users', 'Users'],
  ['/admin/shares', 'Shares'],
  ['/admin/risk', 'Risk'],
  ['/admin/operations', 'Operations'],
  ['/admin/events', 'Audit trail'],
  ['/admin/audit-log', 'Audit log'],
] as const;

/** Links between the parts of the administration. */
export function sections(present: (typeof SECTIONS)[number][0]): Html {
  const links = SECTIONS.map(
    ([path, label]) => markup`<a href="${path}"${path === present && markup` aria-current="page"`}>${label}</a> `,
  );
  return markup`<nav class="actions" aria-label="Administration">${links}</nav>`;
}

/** A form that looks something up: it changes nothing, so it needs no token. */
export function searchForm(action: string, label: string, search: string): Html {
  return markup`<form method="get" action="${action}" role="search"><div class="field">
<label for="search">${label}</label>
<input id="search" name="search" type="search" value="${search}"></div>
<p class="actions"><button class="plain">Search</button></p></form>`;
}
