import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, freemem, hostname, loadavg, platform, release, totalmem } from 'node:os';
import type { ReloadResult, SystemStatus } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GeoService } from '../geo/geo.service.js';
import { KernelService } from '../kernel-host/kernel.service.js';
import { SERVICE_VERSION } from '../service-version.js';
import { ProxyGatewaySettings } from '../settings.js';
import { readBuildStamp } from './build-stamp.js';
import { ProcessVitals } from './process-vitals.js';

@Injectable()
export class SystemService {
  private readonly build = readBuildStamp();

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: Jobs,
    private readonly kernel: KernelService,
    private readonly vitals: ProcessVitals,
    private readonly settings: ProxyGatewaySettings,
    private readonly geo: GeoService,
  ) {}

  async status(): Promise<SystemStatus> {
    const [{ view, live }, database, queue, disk, geo] = await Promise.all([
      this.kernel.describe(SERVICE_VERSION),
      this.database(),
      this.queue(),
      this.disk(),
      this.geo.summary(),
    ]);
    return {
      version: SERVICE_VERSION,
      commit: this.build.commit,
      build_time: this.build.buildTime,
      node_version: process.versions.node,
      ...this.machine(),
      disk,
      kernel: view,
      connections: live?.activeConnections ?? null,
      database: database.state,
      queue,
      geo,
      counts: database.counts,
    };
  }

  /** @throws AppError UNPROCESSABLE for a configuration that cannot run; KERNEL_UNAVAILABLE. */
  async reload(): Promise<ReloadResult> {
    const result = await this.kernel.reload();
    return {
      ok: true,
      generation: result.generation,
      previous_generation: result.previousGeneration,
      config_hash: result.configHash,
      changed: result.changed,
      dropped_connections: result.droppedConnections,
      duration_ms: result.durationMs,
      warnings: result.warnings,
    };
  }

  private machine() {
    const [load1 = 0, load5 = 0, load15 = 0] = loadavg();
    const { rss, heapUsed } = process.memoryUsage();
    const uptime = process.uptime();
    return {
      started_at: new Date(Date.now() - uptime * 1000).toISOString(),
      uptime_sec: Math.floor(uptime),
      hostname: hostname(),
      os: `${platform()} ${release()}`,
      arch: arch(),
      cpu: { percent: this.vitals.cpuPercent(), cores: availableParallelism(), load1, load5, load15 },
      memory: { rss_bytes: rss, heap_used_bytes: heapUsed, total_bytes: totalmem(), free_bytes: freemem() },
      event_loop: { lag_p99_ms: this.vitals.lagP99Ms() },
    };
  }

  /** A database that does not answer fails the whole status: nothing of the service works then. */
  private async database() {
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

  private async queue(): Promise<SystemStatus['queue']> {
    try {
      const counts = Object.values(await this.jobs.counts());
      const sum = (key: 'waiting' | 'active' | 'failed'): number =>
        counts.reduce((total, each) => total + each[key], 0);
      return { ok: true, waiting: sum('waiting'), active: sum('active'), failed: sum('failed') };
    } catch {
      // Told in the answer itself; the health check logs the reason.
      return { ok: false, waiting: null, active: null, failed: null };
    }
  }

  private async disk(): Promise<SystemStatus['disk']> {
    try {
      const { bavail, bsize } = await statfs(this.settings.home);
      return { free_bytes: bavail * bsize };
    } catch {
      // No home folder: the key came from the environment.
      return { free_bytes: null };
    }
  }
}
