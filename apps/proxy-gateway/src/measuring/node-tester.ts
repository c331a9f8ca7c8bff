import { createNodeProber, createSystemResolver } from '@gatehouse/proxy-kernel';
import type { ExitAddress, NodeProber, ProbeOptions, ProbeResult, ProbeTarget } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { KernelProbe } from './kernel-probe.js';

/** A node to measure, with the id of its row. */
export interface NodeTarget extends ProbeTarget {
  id: number;
  name: string;
  /** Only the running kernel, another program, dials it. */
  byKernel?: boolean;
}

/** Measures nodes by dialling them from this process, or by the kernel where only that can. Each is measured once at a time for one address. */
@Injectable()
export class NodeTester implements NodeProber, OnModuleDestroy {
  private readonly prober = createNodeProber({ resolver: createSystemResolver(), now: () => Date.now() });
  private readonly running = new Map<string, Promise<ProbeResult>>();

  constructor(private readonly kernel: KernelProbe) {}

  onModuleDestroy(): void {
    this.close();
  }

  /** Joins a measurement of the same node that is under way. Rejects only for an aborted signal. */
  async probe(target: NodeTarget, options: ProbeOptions): Promise<ProbeResult> {
    const key = `${target.id} ${options.url}`;
    const present = this.running.get(key);
    if (present) {
      const joined = await present.catch(() => null);
      // The caller that began it gave up, but this one did not.
      return joined ?? this.probe(target, options);
    }
    const prober = target.byKernel ? this.kernel : this.prober;
    const started = prober.probe(target, options).finally(() => this.running.delete(key));
    this.running.set(key, started);
    return started;
  }

  /** @throws DialError. */
  exitAddress(target: ProbeTarget, options: Pick<ProbeOptions, 'url' | 'timeoutMs' | 'signal'>): Promise<ExitAddress> {
    return this.prober.exitAddress(target, options);
  }

  close(): void {
    this.prober.close();
  }
}
