import { guardPromise } from '@gatehouse/net';
import type { EventBatch, KernelCalls, KernelMethod } from '../common/kernel-ipc.js';
import type { SpoolRange } from '../common/spool-range.js';
import { KernelUnavailableError } from './kernel-errors.js';
import type { FoundKernel } from './kernel-launcher.js';
import type { KernelMember } from './kernel-member.js';

/** One kernel that hangs must not hold up what the others answer for longer than this. */
const ONE_OF_MANY_MS = 5_000;
/** Runs of kernels whose spools are remembered. */
const MAX_SPOOLS = 1_000;

/** The kernels that this service drives, one for each place where a kernel was found. */
export class KernelFleet {
  private readonly create: (found: FoundKernel) => KernelMember;
  private readonly byPlace = new Map<string, KernelMember>();
  /** Places that lead to a kernel that is reached at another one, with its run. */
  private readonly aliases = new Map<string, string>();
  private readonly spools = new Map<string, KernelMember>();
  private found: readonly FoundKernel[] = [];
  private stopped = false;

  constructor(create: (found: FoundKernel) => KernelMember) {
    this.create = create;
  }

  get members(): readonly KernelMember[] {
    return [...this.byPlace.values()];
  }

  get running(): readonly KernelMember[] {
    return this.members.filter(({ running }) => running);
  }

  /** Whether this service has met more than one kernel, of those that it looks for. */
  get several(): boolean {
    return this.members.filter(({ instance }) => instance !== null).length > 1;
  }

  /** Connects to new kernels. A kernel that is no longer found stays until its connection ends. */
  use(found: readonly FoundKernel[]): void {
    this.found = found;
    if (this.stopped) return;
    const places = new Set(found.map(({ place }) => place));
    for (const place of this.aliases.keys()) if (!places.has(place)) this.aliases.delete(place);
    for (const [place, member] of this.byPlace) if (!places.has(place) && !member.running) this.remove(member);
    for (const kernel of found) {
      if (this.byPlace.has(kernel.place) || this.aliases.has(kernel.place)) continue;
      const member = this.create(kernel);
      this.byPlace.set(kernel.place, member);
      member.process.start();
    }
  }

  /** Returns false if the kernel is reached at another address already; this connection is then closed. */
  accept(member: KernelMember): boolean {
    const { instance, place } = member;
    const other = this.running.find((one) => one !== member && instance !== null && one.instance === instance);
    if (!other || instance === null) return true;
    this.aliases.set(place, instance);
    this.remove(member);
    return false;
  }

  /** The connection to a kernel has ended: it may be reached at another address. */
  lost(member: KernelMember): void {
    const before = this.aliases.size;
    for (const [place, instance] of this.aliases) if (instance === member.instance) this.aliases.delete(place);
    const wanted = this.found.some(({ place }) => place === member.place);
    // Not within the call that reports the end, since that one would start another.
    if (!wanted || this.aliases.size < before) setImmediate(() => this.use(this.found));
  }

  async stop(graceMs: number): Promise<void> {
    this.stopped = true;
    await Promise.all(this.members.map(({ process }) => process.stop(graceMs)));
  }

  /** What all kernels answer that can. @throws KernelUnavailableError if none does, or their error. */
  async askAll<M extends KernelMethod>(
    method: M,
    params: KernelCalls[M]['params'],
    limitMs?: number,
  ): Promise<{ from: KernelMember; answer: KernelCalls[M]['result'] }[]> {
    const { running } = this;
    const timeoutMs = limitMs ?? (running.length > 1 ? ONE_OF_MANY_MS : undefined);
    const results = await Promise.allSettled(running.map((one) => one.request(method, params, timeoutMs)));
    const answers = results.flatMap((result, index) => {
      const from = running[index];
      return result.status === 'fulfilled' && from ? [{ from, answer: result.value }] : [];
    });
    if (answers.length > 0) return answers;
    const refused = results.find((result) => result.status === 'rejected');
    throw refused ? refused.reason : notRunning();
  }

  /** The answer of one kernel. @throws KernelUnavailableError, KernelConfigError */
  async askOne<M extends KernelMethod>(
    method: M,
    params: KernelCalls[M]['params'],
    timeoutMs?: number,
  ): Promise<KernelCalls[M]['result']> {
    let unavailable: KernelUnavailableError = notRunning();
    for (const member of this.running) {
      try {
        return await member.request(method, params, timeoutMs);
      } catch (error) {
        if (!(error instanceof KernelUnavailableError)) throw error;
        unavailable = error;
      }
    }
    throw unavailable;
  }

  /** Remembers which kernel has these records. */
  note(member: KernelMember, { source }: Pick<EventBatch, 'source'>): void {
    if (!source) return;
    this.spools.delete(source.spool);
    this.spools.set(source.spool, member);
    const [oldest] = this.spools.keys();
    if (this.spools.size > MAX_SPOOLS && oldest !== undefined) this.spools.delete(oldest);
  }

  /** The running kernels that have some of these records, each with its part. */
  ownersOf(ranges: readonly SpoolRange[]): Map<KernelMember, SpoolRange[]> {
    const owners = Map.groupBy(ranges, ({ spool }) => this.spools.get(spool));
    const known = [...owners].filter(([member]) => member?.running);
    return new Map(known as [KernelMember, SpoolRange[]][]);
  }

  private remove(member: KernelMember): void {
    this.byPlace.delete(member.place);
    guardPromise(null, member.process.stop(0));
  }
}

function notRunning(): KernelUnavailableError {
  return new KernelUnavailableError('The kernel is not running.');
}
