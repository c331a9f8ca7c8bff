import type { CircuitChanged, GroupSwitched, TrafficDelta } from '@gatehouse/proxy-kernel';
import type { Logger } from '@nestjs/common';
import type { EventBatch, KernelLogEntry } from '../common/kernel-ipc.js';
import type { SpoolRange } from '../common/spool-range.js';

/** Log lines older than this waited in a separate kernel for a service. */
const WAITED_MS = 5_000;
/** Older traffic was kept while no service was connected: it is counted, but not shown as live. */
const LIVE_MS = 10_000;

export type Listener<T> = (value: T) => void;

/** `source` is the part of the spool that holds exactly these records until they are stored. */
export type KernelRecords = Pick<EventBatch, 'closed' | 'traffic'> & { source: SpoolRange | null };

class Listeners<T> {
  private readonly all = new Set<Listener<T>>();

  add(listener: Listener<T>): void {
    this.all.add(listener);
  }

  emit(value: T): void {
    for (const listener of this.all) listener(value);
  }
}

/** Passes the kernel's events on to their listeners. */
export class KernelEvents {
  readonly records = new Listeners<KernelRecords>();
  readonly unstored = new Listeners<readonly string[]>();
  readonly traffic = new Listeners<TrafficDelta>();
  readonly switches = new Listeners<GroupSwitched>();
  readonly circuits = new Listeners<CircuitChanged>();
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  receive({ closed, traffic, source, switched, circuits, logs, dropped }: EventBatch): void {
    if (closed.length + traffic.length > 0) this.records.emit({ closed, traffic, source: source ?? null });
    for (const delta of traffic) if (Date.now() - delta.at < LIVE_MS) this.traffic.emit(delta);
    for (const change of switched) this.switches.emit(change);
    for (const change of circuits) this.circuits.emit(change);
    for (const { level, message, ...entry } of logs) {
      this.logger[level === 'info' ? 'log' : level](message, ...fieldsOf(entry));
    }
    if (Object.values(dropped).every((count) => count === 0)) return;
    this.logger.error(
      `The kernel dropped ${dropped.closed} records, ${dropped.traffic} traffic deltas, ${dropped.changes} changes, ${dropped.logs} log lines`,
    );
  }
}

/** A line is logged with the present time; one that waited for a service also says when it was written. */
function fieldsOf({ at, fields }: Pick<KernelLogEntry, 'at' | 'fields'>): Record<string, unknown>[] {
  const waited = Date.now() - at > WAITED_MS;
  return fields || waited ? [{ ...fields, ...(waited && { written_at: new Date(at).toISOString() }) }] : [];
}
