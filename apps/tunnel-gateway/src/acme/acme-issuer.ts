import { Injectable } from '@nestjs/common';
import { AcmeOrders } from './acme-orders.js';
import type { IssuedCertificate } from './acme-order.js';
import { AcmeSchedule } from './acme-schedule.js';
import { IssueJournal } from './issue-journal.js';
import { NameLock } from './name-lock.js';

/** `busy`: another process orders for that name. `gone`: the host was removed or renamed. */
export type IssueOutcome = 'issued' | 'renewed' | 'adopted' | 'failed' | 'unwanted' | 'busy' | 'gone';

/** Gets a certificate for one host. */
@Injectable()
export class AcmeIssuer {
  constructor(
    private readonly schedule: AcmeSchedule,
    private readonly orders: AcmeOrders,
    private readonly journal: IssueJournal,
    private readonly lock: NameLock,
  ) {}

  /** @throws the signal's reason */
  async issue(hostId: number, signal: AbortSignal): Promise<IssueOutcome> {
    const wish = await this.schedule.wish(hostId);
    if (!wish?.due) return 'unwanted';
    return (await this.lock.hold(wish.name, () => this.issueAlone(hostId, signal))) ?? 'busy';
  }

  private async issueAlone(hostId: number, signal: AbortSignal): Promise<IssueOutcome> {
    // Another process may have got it before this one had the lock.
    const wish = await this.schedule.wish(hostId);
    if (!wish?.due) return 'unwanted';
    if (wish.chain === null && (await this.journal.adopted(wish))) return 'adopted';
    await this.schedule.begin(wish);
    let issued: IssuedCertificate;
    try {
      issued = await this.orders.order(wish, signal);
    } catch (error) {
      // The attempt was cancelled and did not fail: the next run tries again.
      signal.throwIfAborted();
      await this.journal.failed(wish, error);
      return 'failed';
    }
    if (!(await this.journal.issued(wish, issued))) return 'gone';
    return wish.chain === null ? 'issued' : 'renewed';
  }
}
