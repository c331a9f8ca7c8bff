import type { administration } from '../../messages/en/administration.js';
import type { Visitor } from '../../wire/visitor.js';
import { Html, markup } from '../parts/markup.js';

type SectionName = keyof typeof administration.admin;

const SECTIONS = [
  ['/admin/reviews', 'reviews'],
  ['/admin/applications', 'applications'],
  ['/admin/users', 'users'],
  ['/admin/shares', 'shares'],
  ['/admin/risk', 'risk'],
  ['/admin/quotas', 'quotas'],
  ['/admin/operations', 'operations'],
  ['/admin/mails', 'mails'],
  ['/admin/events', 'events'],
  ['/admin/audit-log', 'auditLog'],
] as const satisfies readonly (readonly [string, SectionName])[];

/** Links between the parts of the administration. */
export function sections({ words }: Visitor, present: (typeof SECTIONS)[number][0]): Html {
  const links = SECTIONS.map(
    ([path, name]) =>
      markup`<a href="${path}"${path === present && new Html(' aria-current="page"')}>${words.text(`admin.${name}`)}</a> `,
  );
  return markup`<nav class="tabs" aria-label="${words.text('frame.administration')}">${links}</nav>`;
}
