import { Schedules } from '@gatehouse/jobs';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { FlowRollup } from './flow-rollup.js';
import { FlowRollupHandler } from './flow-rollup.handler.js';

const EVERY_MS = 10_000;

/** Totals by minute, hour and day, wherever workers run. */
@Module({ providers: [FlowRollup, FlowRollupHandler], exports: [FlowRollup] })
export class RollupModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const payload = { requestedAt: Date.now() };
    await this.schedules.keepOne('flow-rollup', { key: 'flow-rollup', everyMs: EVERY_MS, payload });
  }
}
