import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { rowsOf } from '../data/rows-of.js';
import { MAIL_SELECT, MailDelivery, type StoredMail } from '../mail-delivery/mail-delivery.js';
import type { MailText } from '../mail-delivery/mail-text.js';
import { MailTransport } from '../mail-delivery/mail-transport.js';

/** Mails to users, for administrators. */
@Injectable()
export class MailAdministration {
  constructor(
    private readonly dataSource: DataSource,
    private readonly delivery: MailDelivery,
    private readonly transport: MailTransport,
  ) {}

  get isConfigured(): boolean {
    return this.transport.isConfigured;
  }

  /** Newest first. */
  async list({ limit, offset }: { limit: number; offset: number }): Promise<StoredMail[]> {
    return rowsOf<StoredMail>(this.dataSource, `${MAIL_SELECT} ORDER BY m.id DESC LIMIT $1 OFFSET $2`, [limit, offset]);
  }

  /**
   * The text of a mail that no server was there to send. Its user sees in the events that it was read, because its link
   * opens the account. @throws NOT_FOUND, and CONFLICT where a server sends the mails.
   */
  async read(actorId: number, id: number): Promise<{ mail: StoredMail; text: MailText }> {
    if (this.isConfigured) throw new AppError('CONFLICT', 'Mails are sent, and only their recipients read them');
    const [mail] = await rowsOf<StoredMail>(this.dataSource, `${MAIL_SELECT} WHERE m.id = $1`, [id]);
    const text = mail && (await this.delivery.textOf(mail));
    if (mail === undefined || text === undefined) throw new AppError('NOT_FOUND', `There is no mail ${id}`);
    const { userId, kind } = mail;
    await recordEvent(this.dataSource, { type: 'mail.read', userId, actorId, details: { kind } });
    return { mail, text };
  }
}
