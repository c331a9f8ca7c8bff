import { statfs } from 'node:fs/promises';
import type { SystemStatus } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ProxyGatewaySettings } from '../settings.js';

/** Checks what the service depends on. */
@Injectable()
export class SystemProbes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: Jobs,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  /** A database that does not answer fails the whole status, since nothing works without it. */
  async database() {
    const began = performance.now();
    const [row]: [{ version: string } & SystemStatus['counts']] = await this.dataSource.query(
      `SELECT current_setting('server_version') AS version,
         (SELECT count(*)::integer FROM nodes) AS nodes,
         (SELECT count(*)::integer FROM subscriptions) AS subscriptions,
         (SELECT count(*)::integer FROM rules) AS rules`,
    );
    const { version, ...counts } = row;
    const latency = Math.round((performance.now() - began) * 10) / 10;
    return { state: { ok: true, latency_ms: latency, version }, counts };
  }

  async queue(): Promise<SystemStatus['queue']> {
    try {
      const counts = Object.values(await this.jobs.counts());
      const sum = (key: 'waiting' | 'active' | 'failed'): number =>
        counts.reduce((total, each) => total + each[key], 0);
      return { ok: true, waiting: sum('waiting'), active: sum('active'), failed: sum('failed') };
    } catch {
      // The answer shows the failure; the health check logs the reason.
      return { ok: false, waiting: null, active: null, failed: null };
    }
  }

  async disk(): Promise<SystemStatus['disk']> {
    try {
      const { bavail, bsize } = await statfs(this.settings.home);
      return { free_bytes: bavail * bsize };
    } catch {
      // There is no home folder if the key came from the environment.
      return { free_bytes: null };
    }
  }
}
