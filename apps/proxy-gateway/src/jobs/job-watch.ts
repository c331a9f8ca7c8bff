import type { JobView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { hasEnded } from './job.view.js';
import { JobsService } from './jobs.service.js';

/** How soon watchers see a change. */
const LOOK_MS = 500;
/** Reads that may fail in a row: a restart of the database must not end a stream. */
const PATIENCE = 20;

export interface JobWatcher {
  /** Called at the beginning and after every change. */
  changed(view: JobView): void;
  /** The job has ended or is gone, or the service is stopping. No call follows. */
  ended(): void;
}

interface Watched {
  watchers: Set<JobWatcher>;
  timer: NodeJS.Timeout | null;
  latest: JobView | null;
  failures: number;
}

/** Polls watched jobs; all watchers of one job share its reads. */
@Injectable()
export class JobWatch implements OnModuleDestroy {
  private readonly watched = new Map<string, Watched>();

  constructor(private readonly jobs: JobsService) {}

  onModuleDestroy(): void {
    for (const jobId of this.watched.keys()) this.end(jobId);
  }

  /** Returns a function that stops watching. @throws AppError NOT_FOUND. */
  async watch(jobId: string, watcher: JobWatcher): Promise<() => void> {
    const first = await this.jobs.follow(jobId);
    watcher.changed(first);
    if (hasEnded(first)) {
      watcher.ended();
      return () => undefined;
    }
    const entry = this.watched.get(jobId) ?? { watchers: new Set(), timer: null, latest: first, failures: 0 };
    this.watched.set(jobId, entry);
    entry.watchers.add(watcher);
    entry.timer ??= setInterval(() => void this.look(jobId, entry), LOOK_MS);
    return () => this.leave(jobId, entry, watcher);
  }

  private async look(jobId: string, entry: Watched): Promise<void> {
    const view = await this.read(jobId, entry);
    if (view === null || this.watched.get(jobId) !== entry) return;
    if (view === 'gone') return this.end(jobId);
    if (differs(view, entry.latest)) for (const watcher of entry.watchers) watcher.changed(view);
    entry.latest = view;
    if (hasEnded(view)) this.end(jobId);
  }

  /** Null: unknown at the moment. */
  private async read(jobId: string, entry: Watched): Promise<JobView | 'gone' | null> {
    try {
      const view = await this.jobs.follow(jobId);
      entry.failures = 0;
      return view;
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return 'gone';
      return ++entry.failures >= PATIENCE ? 'gone' : null;
    }
  }

  private leave(jobId: string, entry: Watched, watcher: JobWatcher): void {
    entry.watchers.delete(watcher);
    if (entry.watchers.size === 0 && this.watched.get(jobId) === entry) this.end(jobId);
  }

  private end(jobId: string): void {
    const entry = this.watched.get(jobId);
    this.watched.delete(jobId);
    if (entry?.timer) clearInterval(entry.timer);
    for (const watcher of entry?.watchers ?? []) watcher.ended();
  }
}

/** A changed running time alone is no change. */
function differs(view: JobView, latest: JobView | null): boolean {
  return JSON.stringify({ ...view, duration_ms: 0 }) !== JSON.stringify({ ...latest, duration_ms: 0 });
}
