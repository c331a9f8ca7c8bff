import type { MailPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { MailDelivery } from './mail-delivery.js';
import { MailSweep } from './mail-sweep.js';
import { ResetRequests } from './reset-requests.js';

/** Everything about mails that nobody has to wait for. */
@JobHandler('mail', { concurrency: 4 })
export class MailHandler implements HandlesJobs<'mail'> {
  constructor(
    private readonly delivery: MailDelivery,
    private readonly sweep: MailSweep,
    private readonly resets: ResetRequests,
  ) {}

  /** @throws TypeError for a task that this version does not know */
  async handle(payload: MailPayload, { signal }: JobContext): Promise<void> {
    switch (payload.task) {
      case 'send':
        return this.delivery.send(payload.mailId);
      case 'reset':
        return this.resets.answer(payload.account, payload.language);
      case 'sweep':
        return this.sweep.run(signal);
      default:
        throw new TypeError('There is no such task of mails.');
    }
  }
}
