import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@gatehouse/platform';
import { FairQueue } from './fair-queue.js';

/** For whom a password is hashed. */
export interface HashingTurn {
  /** Turns go round among clients: whoever asks a hundred times waits behind their own questions. */
  readonly client: string;
  /** Has logged in before from where they are: served in turn with all the others together. */
  readonly known: boolean;
  /** Asked when the turn has come: raises when there is nothing to hash any more. */
  readonly stillWanted?: () => Promise<void>;
}

export interface HashingSlotsOptions {
  /** Hashes at a time. */
  readonly slots: number;
  /** How many may wait. */
  readonly waiting: number;
  /** Rest after a hash while others wait, as a part of the time that it took. */
  readonly rest: number;
}

interface Waiter {
  enter(): void;
  refuse(error: AppError): void;
}

/**
 * Lets few hashes run at a time and few more wait, so that a storm of logins costs bounded memory and CPU. Beyond that,
 * who has the most waiting goes without: SERVICE_UNAVAILABLE with Retry-After.
 */
export class HashingSlots {
  private readonly known = new FairQueue<Waiter>();
  private readonly others = new FairQueue<Waiter>();
  private readonly options: HashingSlotsOptions;
  private running = 0;
  private knownHadTurn = false;

  constructor(options: HashingSlotsOptions) {
    this.options = options;
  }

  async run<T>(turn: HashingTurn, work: () => Promise<T>): Promise<T> {
    await this.enter(turn);
    const started = performance.now();
    try {
      await turn.stillWanted?.();
      return await work();
    } finally {
      this.leave(performance.now() - started);
    }
  }

  private async enter(turn: HashingTurn): Promise<void> {
    if (this.running < this.options.slots) {
      this.running += 1;
      return;
    }
    if (this.known.size + this.others.size >= this.options.waiting) this.makeRoom(turn);
    const queue = turn.known ? this.known : this.others;
    // The slot is handed over, so `running` stays as it is.
    await new Promise<void>((enter, refuse) => queue.push(turn.client, { enter, refuse }));
  }

  /** Somebody who waits gives way to whom is better entitled, or else the newcomer is refused. */
  private makeRoom(turn: HashingTurn): void {
    const queue = turn.known && this.others.size === 0 ? this.known : this.others;
    const entitled = (turn.known && queue === this.others) || queue.longest >= queue.lengthOf(turn.client) + 2;
    if (!entitled) throw tooMany();
    queue.dropFromLongest()?.refuse(tooMany());
  }

  private leave(tookMs: number): void {
    if (this.known.size + this.others.size === 0) this.running -= 1;
    else void this.handOver(tookMs * this.options.rest);
  }

  private async handOver(restMs: number): Promise<void> {
    if (restMs > 0) await sleep(restMs, undefined, { ref: false });
    const next = this.next();
    if (next === undefined) this.running -= 1;
    else next.enter();
  }

  private next(): Waiter | undefined {
    this.knownHadTurn = !this.knownHadTurn && this.known.size > 0;
    return this.knownHadTurn ? this.known.shift() : (this.others.shift() ?? this.known.shift());
  }
}

function tooMany(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'Too many logins at once', { retryAfterSeconds: 5, level: 'warn' });
}
