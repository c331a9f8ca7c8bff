import { arch, availableParallelism, freemem, hostname, loadavg, platform, release, totalmem } from 'node:os';
import type { KernelReloadView, ReloadResult, SystemStatus } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { GeoService } from '../geo-updates/geo.service.js';
import type { KernelMember } from '../kernel-process/kernel-member.js';
import { KernelService, type KernelReload } from '../kernel-process/kernel.service.js';
import { SERVICE_VERSION } from '../service-version.js';
import { readBuildStamp } from './build-stamp.js';
import { ProcessVitals } from './process-vitals.js';
import { SystemProbes } from './system-probes.js';

@Injectable()
export class SystemService {
  private readonly build = readBuildStamp();

  constructor(
    private readonly probes: SystemProbes,
    private readonly kernel: KernelService,
    private readonly vitals: ProcessVitals,
    private readonly geo: GeoService,
  ) {}

  async status(): Promise<SystemStatus> {
    const [{ view, live }, database, queue, disk, geo] = await Promise.all([
      this.kernel.describe(SERVICE_VERSION),
      this.probes.database(),
      this.probes.queue(),
      this.probes.disk(),
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

  /** @throws AppError UNPROCESSABLE for an invalid configuration; KERNEL_UNAVAILABLE. */
  async reload(): Promise<ReloadResult> {
    const done = await this.kernel.reload();
    const [{ result }] = done;
    return {
      ok: true,
      generation: result.generation,
      previous_generation: result.previousGeneration,
      config_hash: result.configHash,
      changed: result.changed,
      dropped_connections: result.droppedConnections,
      duration_ms: result.durationMs,
      warnings: result.warnings,
      ...(this.kernel.hasSeveral && { kernels: describeReload(this.kernel.kernels, done) }),
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
}

function describeReload(kernels: readonly KernelMember[], done: readonly KernelReload[]): KernelReloadView[] {
  return kernels.map((kernel) => {
    const found = done.find((one) => one.kernel === kernel);
    return { name: kernel.title, applied: found !== undefined, generation: found?.result.generation ?? null };
  });
}
