import type { CircuitChanged, GroupSwitched } from '@gatehouse/proxy-kernel';
import type { Logger } from '@nestjs/common';
import type { EventBatch, KernelLogEntry, LiveTraffic } from '../common/kernel-ipc.js';
import type { SpoolRange } from '../common/spool-range.js';

/** Log lines older than this waited in a separate kernel for a service. */
const WAITED_MS = 5_000;
/** Older traffic was kept while no service was connected: it is counted, but not shown as live. */
const LIVE_MS = 10_000;

/** The kernel that something comes from. */
export interface KernelOrigin {
  /** Null while there is only one kernel. */
  readonly name: string | null;
  /** It sends traffic as it flows to every service, besides the records. */
  readonly sendsLive: boolean;
}

/** A kernel that was replaced by a fake one in a test is not given as the origin. */
export type Listener<T> = (value: T, origin?: KernelOrigin) => void;

/** `source` is the part of the spool that holds exactly these records until they are stored. */
export type KernelRecords = Pick<EventBatch, 'closed' | 'traffic'> & {
  source: SpoolRange | null;
  /** The name of the kernel; null or absent with only one. */
  kernel?: string | null;
};

class Listeners<T> {
  private readonly all = new Set<Listener<T>>();

  add(listener: Listener<T>): void {
    this.all.add(listener);
  }

  emit(value: T, origin: KernelOrigin): void {
    for (const listener of this.all) listener(value, origin);
  }
}

/** Passes the events of kernels on to their listeners. */
export class KernelEvents {
  readonly records = new Listeners<KernelRecords>();
  readonly unstored = new Listeners<readonly string[]>();
  readonly traffic = new Listeners<LiveTraffic>();
  readonly switches = new Listeners<GroupSwitched>();
  readonly circuits = new Listeners<CircuitChanged>();
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  receive({ closed, traffic, source, switched, circuits, logs, dropped }: EventBatch, origin: KernelOrigin): void {
    if (closed.length + traffic.length > 0)
      this.records.emit({ closed, traffic, source: source ?? null, kernel: origin.name }, origin);
    if (!origin.sendsLive) for (const delta of traffic) this.receiveLive(delta, origin);
    for (const change of switched) this.switches.emit(change, origin);
    for (const change of circuits) this.circuits.emit(change, origin);
    for (const { level, message, ...entry } of logs) {
      this.logger[level === 'info' ? 'log' : level](message, ...fieldsOf(entry, origin));
    }
    if (Object.values(dropped).every((count) => count === 0)) return;
    this.logger.error(
      `The kernel${origin.name === null ? '' : ` ${origin.name}`} dropped ${dropped.closed} records, ${dropped.traffic} traffic deltas, ${dropped.changes} changes, ${dropped.logs} log lines`,
    );
  }

  receiveLive(traffic: LiveTraffic, origin: KernelOrigin): void {
    if (Date.now() - traffic.at < LIVE_MS) this.traffic.emit(traffic, origin);
  }
}

/**
 * A line is logged with the present time; one that waited for a service also says when it was written. With several
 * kernels it says which one wrote it.
 */
function fieldsOf(
  { at, fields }: Pick<KernelLogEntry, 'at' | 'fields'>,
  { name }: KernelOrigin,
): Record<string, unknown>[] {
  const waited = Date.now() - at > WAITED_MS;
  if (!fields && !waited && name === null) return [];
  const kernel = name === null ? {} : { kernel: name };
  return [{ ...fields, ...kernel, ...(waited && { written_at: new Date(at).toISOString() }) }];
}
