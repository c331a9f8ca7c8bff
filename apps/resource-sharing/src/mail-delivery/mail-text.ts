import type { Translator } from '@gatehouse/i18n';
import type { SiteMessages } from '../messages/index.js';
import type { MailKind } from '../mails/mail-outbox.js';

/** A mail in words: plain text, so that nothing in it can be loaded or run. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
}

export interface MailContent {
  readonly kind: MailKind;
  readonly username: string;
  /** Of the site, without a slash at its end. */
  readonly site: string;
  /** What the mail leads to: a link that works once, or a page of the site. */
  readonly address: string;
  /** How long a link works. */
  readonly hours?: number | undefined;
  /** Text of a notice. */
  readonly notice?: string | undefined;
}

export function mailText(words: Translator<SiteMessages>, content: MailContent): MailText {
  const { kind, username, site, address } = content;
  const host = new URL(site).host;
  const end = words.text('mail.end', { site });
  const parts = [words.text('mail.greeting', { username }), ...paragraphs(words, content), address, end];
  return { subject: words.text(`mail.subjects.${kind}`, { host }), text: `${parts.join('\n\n')}\n` };
}

function paragraphs(words: Translator<SiteMessages>, { kind, hours = 0, notice = '' }: MailContent): string[] {
  switch (kind) {
    case 'verify_email':
      return [words.text('mail.verify', { hours }), words.text('mail.ignore')];
    case 'reset_password':
      return [words.text('mail.reset', { hours }), words.text('mail.ignoreReset')];
    case 'email_changed':
      return [words.text('mail.emailChanged'), words.text('mail.notYou')];
    case 'notice':
      return [notice, words.text('mail.notYou')];
  }
}
