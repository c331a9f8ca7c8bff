import { stateOf, type MailState } from '../../administration/mails.view.js';
import type { StoredMail } from '../../mail-delivery/mail-delivery.js';
import type { MailText } from '../../mail-delivery/mail-text.js';
import type { Visitor } from '../../wire/visitor.js';
import { Html, markup } from '../parts/markup.js';
import { badge, card, dataTable, facts, pager, type BadgeTone } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { sections } from './sections.js';

interface MailList {
  readonly mails: readonly StoredMail[];
  readonly page: number;
  readonly hasMore: boolean;
  /** False: mails are kept. */
  readonly isConfigured: boolean;
}

const TONES: Readonly<Record<MailState, BadgeTone>> = { kept: 'info', waiting: 'fair', sent: 'good', failed: 'bad' };

export function mailsPage(visitor: Visitor, { mails, page, hasMore, isConfigured }: MailList): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = mails.map((mail) => {
    const kind = words.text(`mail.kinds.${mail.kind}`);
    const state = stateOf(mail, isConfigured);
    const problem = mail.problem !== null && markup`<span class="second">${mail.problem}</span>`;
    return [
      time(mail.createdAt),
      mail.username,
      mail.recipient,
      state === 'kept' ? markup`<a href="/admin/mails/${mail.id}">${kind}</a>` : kind,
      markup`${badge(TONES[state], words.text(`mail.states.${state}`))}${problem}`,
    ];
  });
  const columns = [
    words.text('common.time'),
    words.text('fields.username'),
    words.text('common.email'),
    words.text('common.type'),
    words.text('common.status'),
  ];
  return markup`${sections(visitor, '/admin/mails')}
${!isConfigured && markup`<p class="notice" role="note">${words.text('mail.keptNote')}</p>`}
${dataTable(words.text('admin.mails'), columns, rows, words.text('mail.none'))}
${pager(visitor, '/admin/mails', page, hasMore)}`;
}

export function mailPage(visitor: Visitor, mail: StoredMail, { subject, text }: MailText): Html {
  const { words } = visitor;
  return markup`${sections(visitor, '/admin/mails')}
${card(
  subject,
  markup`${facts([
    [words.text('common.email'), mail.recipient],
    [words.text('common.time'), timesFor(visitor)(mail.createdAt)],
  ])}<pre>${text}</pre>`,
)}
<p class="hint">${words.text('mail.readNote')}</p>`;
}
