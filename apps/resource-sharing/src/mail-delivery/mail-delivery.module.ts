import { Schedules } from '@gatehouse/jobs';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { MailsModule } from '../mails/mails.module.js';
import { MailDelivery } from './mail-delivery.js';
import { MailHandler } from './mail.handler.js';
import { MailSweep } from './mail-sweep.js';
import { MailTransport } from './mail-transport.js';
import { ResetRequests } from './reset-requests.js';

const EVERY_MS = 10_000;

/** Sends mails, in the process with the workers. */
@Module({
  imports: [MailsModule],
  providers: [MailTransport, MailDelivery, MailSweep, ResetRequests, MailHandler],
  exports: [MailTransport, MailDelivery],
})
export class MailDeliveryModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const payload = { task: 'sweep', requestedAt: Date.now() } as const;
    await this.schedules.keepOne('mail', { key: 'mail-sweep', everyMs: EVERY_MS, payload });
  }
}
