import type { JsonLogger } from '@gatehouse/platform';
import type { ChainHead } from '../chain/audit-chain.js';
import type { WitnessFile } from './witness-file.js';
import type { WitnessHook } from './witness-hook.js';
import type { WitnessLine } from './witness-line.js';

/** Heads that follow each other within this time are written as one. */
const FILE_PAUSE_MS = 250;
const HOOK_PAUSE_MS = 5_000;

interface Place {
  readonly name: string;
  readonly pauseMs: number;
  write(line: WitnessLine): Promise<void>;
}

/**
 * Keeps the head of the log outside the database: write access to the database is not enough to undo what was stored here.
 * A witness that cannot write never delays the log.
 */
export class AuditWitness {
  readonly file: WitnessFile | null;
  private readonly places: PlaceWriter[];

  constructor(parts: { file: WitnessFile | null; hook: WitnessHook | null; logger: JsonLogger }) {
    const { file, hook, logger } = parts;
    this.file = file;
    const places: Place[] = [
      ...(file ? [{ name: file.path, pauseMs: FILE_PAUSE_MS, write: (line: WitnessLine) => file.append(line) }] : []),
      ...(hook ? [{ name: 'the webhook', pauseMs: HOOK_PAUSE_MS, write: (line: WitnessLine) => hook.send(line) }] : []),
    ];
    this.places = places.map((place) => new PlaceWriter(place, logger));
  }

  /** The reason why the last head could not be written to the file, or null. */
  get problem(): string | null {
    return this.places.find(({ problem }) => problem !== null)?.problem ?? null;
  }

  /** Stores a committed head. */
  saw({ lastId, lastHash }: Pick<ChainHead, 'lastId' | 'lastHash'>): void {
    if (lastId === 0) return;
    const line = { at: new Date().toISOString(), id: lastId, hash: lastHash };
    for (const place of this.places) place.offer(line);
  }

  /** Writes waiting heads; never rejects. */
  async flush(): Promise<void> {
    await Promise.all(this.places.map((place) => place.flush()));
  }
}

/** For one destination: one write at a time, and only the newest head. */
class PlaceWriter {
  problem: string | null = null;
  private waiting: WitnessLine | null = null;
  private running: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  private writtenAt = 0;
  private readonly place: Place;
  private readonly logger: JsonLogger;

  constructor(place: Place, logger: JsonLogger) {
    this.place = place;
    this.logger = logger;
  }

  offer(line: WitnessLine): void {
    this.waiting = line;
    if (this.running !== null || this.timer !== null) return;
    const wait = this.writtenAt + this.place.pauseMs - performance.now();
    if (wait <= 0) void this.write();
    else {
      this.timer = setTimeout(() => void this.write(), wait);
      this.timer.unref();
    }
  }

  async flush(): Promise<void> {
    await this.running;
    await this.write();
  }

  private write(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.running ??= this.writeNext().finally(() => {
      this.running = null;
      if (this.waiting) this.offer(this.waiting);
    });
    return this.running;
  }

  private async writeNext(): Promise<void> {
    const line = this.waiting;
    this.waiting = null;
    if (line === null) return;
    try {
      await this.place.write(line);
      if (this.problem !== null) this.logger.log('the witness of the audit log writes again', this.about(), 'Audit');
      this.problem = null;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (this.problem === null) {
        this.logger.error('the witness of the audit log cannot write', { ...this.about(), problem }, 'Audit');
      }
      this.problem = problem;
    }
    this.writtenAt = performance.now();
  }

  private about(): { witness: string } {
    return { witness: this.place.name };
  }
}
