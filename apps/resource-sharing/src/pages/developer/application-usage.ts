import { Injectable } from '@nestjs/common';
import { ServiceDays, shiftDate } from '../../quota/service-days.js';
import { UsageReader, type Usage } from '../../usage/usage-reader.js';

const DAYS = 30;

/** Calls of applications as their owners see them. */
@Injectable()
export class ApplicationUsage {
  constructor(
    private readonly usage: UsageReader,
    private readonly days: ServiceDays,
  ) {}

  /** Of the last 30 days, this one included, with all its secrets and for all users together. */
  async recent(applicationId: number): Promise<Usage> {
    const last = this.days.at().date;
    const first = shiftDate(last, 1 - DAYS) ?? last;
    return this.usage.read({ applicationId, credentialId: 0, userId: null }, { first, last });
  }
}
