import { Schedules } from '@gatehouse/jobs';
import { Module } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { GroupSwitches } from '../data/group-switches.js';
import { SwitchRetention } from '../outbound/switch-retention.js';
import { TrafficRetention } from '../traffic/traffic-retention.js';
import { RetentionHandler } from './retention.handler.js';

const EVERY_MS = 3_600_000;

/** The hourly sweep, for processes that run workers. */
@Module({ providers: [RetentionHandler, TrafficRetention, SwitchRetention, GroupSwitches] })
export class RetentionModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const times = { everyMs: EVERY_MS, firstInMs: 60_000, jitterMs: 60_000 };
    const payload = { requestedAt: Date.now() };
    await this.schedules.keepOne('retention', { key: 'retention-hourly', ...times, payload });
  }
}
