import { Jobs } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';

const KEY = 'geo-update-auto';
const HOUR_MS = 3_600_000;
/** A service that has just started has better things to do, and one that is started often must not ask every time. */
export const FIRST_UPDATE_MS = 10 * 60_000;

/** Keeps the schedule of updates as the settings want it. */
@Injectable()
export class GeoSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Geo');
  private applied: string | null = null;
  private stopFollowing: () => void = () => undefined;
  private following: Promise<void> = Promise.resolve();

  constructor(
    private readonly jobs: Jobs,
    private readonly preferences: Preferences,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.stopFollowing = this.preferences.onChange(() => this.follow());
    this.follow();
    await this.following;
  }

  async onModuleDestroy(): Promise<void> {
    this.stopFollowing();
    await this.following;
  }

  private follow(): void {
    this.following = this.following
      .then(() => this.apply())
      .catch((error: unknown) => this.logger.error('Updates of the geo databases could not be scheduled', error));
  }

  private async apply(): Promise<void> {
    const hours = this.preferences.get('geo.interval_hours');
    const wanted = this.preferences.get('geo.auto_update') ? String(hours) : 'off';
    if (wanted === this.applied) return;
    if (wanted === 'off') await this.jobs.removeScheduler('geo-update', KEY);
    else {
      const everyMs = hours * HOUR_MS;
      const schedule = { everyMs, firstInMs: FIRST_UPDATE_MS, jitterMs: Math.min(everyMs / 4, HOUR_MS) };
      await this.jobs.upsertScheduler('geo-update', KEY, schedule, { trigger: 'schedule' });
    }
    this.applied = wanted;
  }
}
