import type { Language } from '@gatehouse/i18n';
import { Jobs } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { oneRow } from '../data/rows-of.js';

export const MAIL_KINDS = ['verify_email', 'reset_password', 'email_changed', 'notice'] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export interface NewMail {
  readonly userId: number;
  readonly kind: MailKind;
  readonly recipient: string;
  readonly language: Language;
  /** Of a mail with a link. */
  readonly linkId?: string | undefined;
  /** Of a mail about a notice. */
  readonly eventId?: number | undefined;
}

/** First after a second, then after two, four and so on; what is left is found by the next sweep. */
const ATTEMPTS = 7;

/**
 * Mails that wait for being sent. A row says what a mail is about; its text is written when it is sent, so that no
 * secret is stored.
 */
@Injectable()
export class MailOutbox {
  constructor(private readonly jobs: Jobs) {}

  /** Sends a mail once the transaction has ended well, without keeping anybody waiting. */
  async add(tx: EntityManager, { userId, kind, recipient, language, linkId, eventId }: NewMail): Promise<void> {
    const { id } = await oneRow<{ id: number }>(
      tx,
      `INSERT INTO mails (user_id, kind, recipient, language, link_id, event_id) VALUES ($1, $2, $3, $4, $5, $6)
       RETURNING id`,
      [userId, kind, recipient, language, linkId ?? null, eventId ?? null],
    );
    await this.jobs.enqueueAfterCommit(
      tx,
      'mail',
      { task: 'send', mailId: id },
      { jobId: `mail-${id}`, attempts: ATTEMPTS },
    );
  }
}
