import { JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { AcmeOrders } from './acme-orders.js';
import { AcmeProblem } from './acme-problem.js';
import { AcmeSchedule } from './acme-schedule.js';

/**
 * Asks the authority for its suggested renewal time (RFC 9773), which is earlier than planned when it is about to
 * revoke a certificate.
 */
@Injectable()
export class RenewalInquiry {
  constructor(
    private readonly schedule: AcmeSchedule,
    private readonly orders: AcmeOrders,
    private readonly logger: JsonLogger,
  ) {}

  /** Returns whether the plan changed. */
  async ask(hostId: number, signal: AbortSignal): Promise<boolean> {
    const wish = await this.schedule.wish(hostId);
    const state = (await this.schedule.states([hostId])).get(hostId);
    if (!wish?.chain || !state || state.failures > 0) return false;
    try {
      const wanted = await this.orders.wantedRenewal(wish.chain, +state.nextAt, signal);
      if (wanted !== null) await this.schedule.bringForward(hostId, new Date(wanted));
      return wanted !== null;
    } catch (error) {
      if (!(error instanceof AcmeProblem)) throw error;
      // It is renewed as planned.
      this.logger.debug('the authority says nothing about renewal', { host: hostId, error: error.message }, 'Acme');
      return false;
    }
  }
}
