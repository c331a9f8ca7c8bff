import type { Language } from '@gatehouse/i18n';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';
import { AccountLinks, LINK_HOURS } from '../mails/account-links.js';
import type { MailKind } from '../mails/mail-outbox.js';
import { siteMessages } from '../messages/index.js';
import { noticeOfEvent } from '../notices/notice-rows.js';
import { noticeText } from '../notices/notice-text.js';
import { ResourceSharingSettings } from '../settings.js';
import { mailText, type MailText } from './mail-text.js';
import { MailRefused, MailTransport } from './mail-transport.js';

/** A mail as it is stored. */
export interface StoredMail {
  readonly id: number;
  readonly userId: number;
  readonly username: string;
  readonly kind: MailKind;
  readonly recipient: string;
  readonly language: Language;
  readonly linkId: string | null;
  readonly eventId: number | null;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly failedAt: Date | null;
  readonly attempts: number;
  readonly problem: string | null;
}

export const MAIL_SELECT = `SELECT m.id, m.user_id AS "userId", a.username, m.kind, m.recipient, m.language,
    m.link_id AS "linkId", m.event_id AS "eventId", m.created_at AS "createdAt", m.sent_at AS "sentAt",
    m.failed_at AS "failedAt", m.attempts, m.problem
  FROM mails m JOIN site_accounts a ON a.id = m.user_id`;

/** What a mail is about has gone: its link was used, has expired or was replaced. */
const OUTDATED = 'OUTDATED';

/** Writes mails and sends them. */
@Injectable()
export class MailDelivery {
  constructor(
    private readonly dataSource: DataSource,
    private readonly links: AccountLinks,
    private readonly transport: MailTransport,
    private readonly settings: ResourceSharingSettings,
    private readonly logger: JsonLogger,
  ) {}

  /** Does nothing without SMTP_URL, or if it was sent before. @throws MailRefused, and the job is repeated */
  async send(id: number): Promise<void> {
    if (!this.transport.isConfigured) return;
    const [mail] = await rowsOf<StoredMail>(this.dataSource, `${MAIL_SELECT} WHERE m.id = $1`, [id]);
    if (mail === undefined || mail.sentAt !== null || mail.failedAt !== null) return;
    const text = await this.textOf(mail);
    if (text === undefined) return this.note(id, OUTDATED, true);
    try {
      await this.transport.send({ id, recipient: mail.recipient, ...text });
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      await this.note(id, error.message, error.isFinal);
      this.logger.warn('a mail was not accepted', { mail: id, problem: error.message }, 'Mail');
      if (error.isFinal) return;
      throw error;
    }
    await this.dataSource.query(
      'UPDATE mails SET sent_at = now(), attempts = attempts + 1, problem = NULL WHERE id = $1',
      [id],
    );
  }

  /** Undefined once its link does not work any longer, or its notice has gone. */
  async textOf(mail: StoredMail): Promise<MailText | undefined> {
    const words = siteMessages(mail.language);
    const site = this.settings.publicUrl.replace(/\/$/, '');
    const { kind, username } = mail;
    if (kind === 'email_changed') return mailText(words, { kind, username, site, address: `${site}/account` });
    if (kind === 'notice') {
      const notice = mail.eventId === null ? undefined : await noticeOfEvent(this.dataSource, mail.eventId);
      if (notice === undefined) return undefined;
      const { text, path } = noticeText(notice, words);
      return mailText(words, { kind, username, site, address: `${site}${path}`, notice: text });
    }
    const link = mail.linkId === null ? undefined : await this.links.find(mail.linkId);
    if (link === undefined) return undefined;
    const page = kind === 'verify_email' ? 'verify-email' : 'reset-password';
    const address = `${site}/${page}?token=${this.links.tokenOf(link)}`;
    return mailText(words, { kind, username, site, address, hours: LINK_HOURS[kind] });
  }

  private async note(id: number, problem: string, isFinal: boolean): Promise<void> {
    await this.dataSource.query(
      `UPDATE mails SET attempts = attempts + 1, problem = $2, failed_at = CASE WHEN $3 THEN now() END WHERE id = $1`,
      [id, problem, isFinal],
    );
  }
}
