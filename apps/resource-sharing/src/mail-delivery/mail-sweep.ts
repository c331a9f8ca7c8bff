import { Jobs } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Language } from '@gatehouse/i18n';
import { rowsOf } from '../data/rows-of.js';
import { MailOutbox } from '../mails/mail-outbox.js';
import { isSecurityNotice } from '../notices/notice-text.js';
import { MailTransport } from './mail-transport.js';

const BATCH = 100;
const MAX_BATCHES = 50;
const KEPT_DAYS = 30;

interface Unmailed {
  readonly eventId: number;
  readonly userId: number;
  readonly type: string;
  readonly email: string | null;
  readonly language: Language | null;
}

const UNMAILED = `SELECT n.event_id AS "eventId", n.user_id AS "userId", e.type, a.language,
    CASE WHEN a.email_verified_at IS NOT NULL AND a.disabled_at IS NULL THEN a.email END AS email
  FROM notices n JOIN audit_events e ON e.id = n.event_id LEFT JOIN site_accounts a ON a.id = n.user_id
  WHERE n.mailed_at IS NULL ORDER BY n.event_id LIMIT ${BATCH} FOR UPDATE OF n SKIP LOCKED`;

/** Makes mails of new notices, and finds mails whose jobs were lost or gave up. */
@Injectable()
export class MailSweep {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly outbox: MailOutbox,
    private readonly transport: MailTransport,
    private readonly jobs: Jobs,
  ) {}

  async run(signal?: AbortSignal): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES && signal?.aborted !== true; batch++) {
      if ((await this.mailNotices()) < BATCH) break;
    }
    if (this.transport.isConfigured) await this.sendRest();
    await this.dataSource.query('DELETE FROM mails WHERE created_at < now() - make_interval(days => $1)', [KEPT_DAYS]);
    await this.dataSource.query('DELETE FROM account_links WHERE expires_at <= now()');
  }

  /** Only about security, and only to addresses that their owners have verified. */
  private async mailNotices(): Promise<number> {
    return this.unitOfWork.run(async (tx) => {
      const found = await rowsOf<Unmailed>(tx, UNMAILED);
      for (const { eventId, userId, type, email, language } of found) {
        if (email === null || !isSecurityNotice(type)) continue;
        await this.outbox.add(tx, { userId, kind: 'notice', recipient: email, language: language ?? 'en', eventId });
      }
      const ids = found.map(({ eventId }) => eventId);
      await tx.query('UPDATE notices SET mailed_at = now() WHERE event_id = ANY ($1)', [ids]);
      return found.length;
    });
  }

  /** For a day: nobody waits for a mail of the day before. */
  private async sendRest(): Promise<void> {
    const due = await rowsOf<{ id: number }>(
      this.dataSource,
      `SELECT id FROM mails WHERE sent_at IS NULL AND failed_at IS NULL
         AND created_at BETWEEN now() - interval '1 day' AND now() - interval '3 minutes' ORDER BY id LIMIT ${BATCH}`,
    );
    for (const { id } of due) {
      await this.jobs.add('mail', { task: 'send', mailId: id }, { jobId: `mail-${id}`, attempts: 1 });
    }
  }
}
