import { Jobs } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { AcmeSchedule } from './acme-schedule.js';
import { ChallengeBoard } from './challenge-board.js';

/** Limit for one run; the next one comes soon. */
const MAX_ORDERS = 50;
const MAX_INQUIRIES = 10;

/** Finds hosts that are due, and queues a job for each. */
@Injectable()
export class AcmeSweep {
  constructor(
    private readonly schedule: AcmeSchedule,
    private readonly board: ChallengeBoard,
    private readonly jobs: Jobs,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  /** Resolves to the number of jobs. */
  async run(): Promise<number> {
    await this.board.clear();
    await this.schedule.clear();
    if (!this.settings.acmeAgreeTerms) return 0;
    const due = await this.schedule.due(MAX_ORDERS);
    for (const hostId of due) await this.orderSoon(hostId);
    const unasked = await this.schedule.unasked(MAX_INQUIRIES);
    for (const hostId of unasked) await this.add(hostId, 'renewal-info');
    return due.length + unasked.length;
  }

  /** Joins a waiting job, if there is one. */
  async orderSoon(hostId: number): Promise<void> {
    await this.add(hostId, 'order');
  }

  private async add(hostId: number, task: 'order' | 'renewal-info'): Promise<void> {
    const payload = { hostId, task, requestedAt: Date.now() };
    await this.jobs.add('certificates', payload, { jobId: `${task}-${hostId}`, attempts: 1 });
  }
}
