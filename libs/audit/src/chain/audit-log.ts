import type { AuditChange } from '@gatehouse/contracts';
import { halveRows, writeBatches } from '@gatehouse/postgres';
import { MetricsRegistry } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { systemEntry, tidy } from './audit-entry.js';
import type { AuditEntry } from './audit-entry.js';
import { AuditStore } from './audit-store.js';

/** An action of the service itself. */
export interface SystemAction {
  /** For example `outbound_group.fall_back`. */
  action: string;
  resourceType?: string;
  resourceId?: string | number;
  resourceName?: string;
  changes?: AuditChange[];
}

interface Waiting {
  entry: AuditEntry;
  settle: () => void;
}

const BATCH = 100;
/** Number of entries that are kept while the database does not accept them. */
const KEPT = 1_000;
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 30_000;

/**
 * Adds entries to the log; concurrent ones share a transaction. An entry that cannot be written is kept and retried; if
 * it is still lost, the runtime log has all of it.
 */
@Injectable()
export class AuditLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Audit');
  private waiting: Waiting[] = [];
  private running: Promise<void> | null = null;
  private retryMs = 0;
  private retry: NodeJS.Timeout | null = null;

  constructor(
    private readonly store: AuditStore,
    private readonly metrics: MetricsRegistry,
  ) {}

  /** Resolves when the entry is in the database or was given up; never rejects. */
  append(entry: AuditEntry): Promise<void> {
    const clean = tidy(entry);
    if (this.waiting.length >= KEPT) {
      this.lose(clean, new Error('Too many audit entries wait for the database'));
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push({ entry: clean, settle: resolve });
    if (this.retry === null) this.start();
    return promise;
  }

  system({ action, resourceType, resourceId, resourceName, changes = [] }: SystemAction): Promise<void> {
    return this.append({
      ...systemEntry(action),
      resourceType: resourceType ?? null,
      resourceId: resourceId === undefined ? null : String(resourceId),
      resourceName: resourceName ?? null,
      changes,
    });
  }

  /** One last try; the database closes in the stage after this one. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.retry) clearTimeout(this.retry);
    this.retry = null;
    await this.running;
    if (this.waiting.length > 0) await this.writeNext().catch(() => undefined);
    if (this.retry) clearTimeout(this.retry);
    for (const { entry, settle } of this.waiting.splice(0)) {
      this.lose(entry, new Error('The service stopped'));
      settle();
    }
  }

  private start(): void {
    this.running ??= this.drain().finally(() => {
      this.running = null;
      if (this.waiting.length > 0 && this.retry === null) this.start();
    });
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      try {
        await this.writeNext();
        this.retryMs = 0;
      } catch (error) {
        this.tryAgainLater(error);
        return;
      }
    }
  }

  /**
   * Entries are removed in order, each after it was written or refused, so that a retry never repeats an existing row.
   */
  private writeNext(): Promise<void> {
    return writeBatches<readonly Waiting[]>([this.waiting.slice(0, BATCH)], {
      write: async (part) => {
        await this.store.append(part.map(({ entry }) => entry));
        this.settle(part);
      },
      halve: halveRows,
      setAside: (part, error) => {
        this.metrics.noteRefusedRows('audit', part.length);
        for (const { entry } of part) this.lose(entry, error);
        this.settle(part);
      },
    });
  }

  private settle(part: readonly Waiting[]): void {
    this.waiting = this.waiting.slice(part.length);
    for (const { settle } of part) settle();
  }

  private tryAgainLater(error: unknown): void {
    const first = this.retryMs === 0;
    this.retryMs = first ? RETRY_FIRST_MS : Math.min(this.retryMs * 2, RETRY_LAST_MS);
    if (first) this.logger.error(`${this.waiting.length} audit entries wait: the database does not take them`, error);
    this.retry = setTimeout(() => {
      this.retry = null;
      this.start();
    }, this.retryMs);
    this.retry.unref();
  }

  private lose(entry: AuditEntry, error: unknown): void {
    this.logger.error('An audit entry could not be stored', { entry, error });
  }
}
