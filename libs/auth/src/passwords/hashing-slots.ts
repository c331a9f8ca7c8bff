import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@gatehouse/platform';
import { FairQueue } from '@gatehouse/net';

/**
 * How far a client is trusted: it has logged in before from its address; nothing is known of it; all recent logins from
 * its address failed. The three are served in turn. When no place is left, a less trusted client gives way, but trusted
 * ones cannot hold more than half of all places against it: an attacker may have an account, too.
 */
const TRUST = ['known', 'new', 'failing'] as const;
export type HashingTrust = (typeof TRUST)[number];

/** The client for whom a password is hashed. */
export interface HashingTurn {
  /** Clients are served in turn, so a client with a hundred requests delays only itself. */
  readonly client: string;
  readonly trust: HashingTrust;
  /** Called when the turn has come. Throws if the hash is no longer needed. */
  readonly assertWanted?: () => void;
}

export interface HashingSlotsOptions {
  /** Concurrent hashes. */
  readonly slots: number;
  /** Maximum number of waiting requests. */
  readonly waiting: number;
  /** Rest after a hash while others wait, as a fraction of the time that it took. */
  readonly rest: number;
}

interface Waiter {
  enter(): void;
  refuse(error: AppError): void;
}

/**
 * Limits how many hashes run and wait, so that a storm of logins costs limited memory and CPU. If no place is left, one
 * request is refused with SERVICE_UNAVAILABLE and Retry-After; `giveWay` selects it.
 */
export class HashingSlots {
  private readonly queues = TRUST.map(() => new FairQueue<Waiter>());
  private readonly options: HashingSlotsOptions;
  private running = 0;
  private lastQueue = 0;

  constructor(options: HashingSlotsOptions) {
    this.options = options;
  }

  private get waiting(): number {
    return this.queues.reduce((sum, queue) => sum + queue.size, 0);
  }

  async run<T>(turn: HashingTurn, work: () => Promise<T>): Promise<T> {
    await this.enter(turn);
    const started = performance.now();
    try {
      turn.assertWanted?.();
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
    if (this.waiting >= this.options.waiting) this.makeRoom(turn);
    // The slot is handed over, so `running` does not change.
    await new Promise<void>((enter, refuse) => this.queueOf(turn).push(turn.client, { enter, refuse }));
  }

  private queueOf({ trust }: HashingTurn): FairQueue<Waiter> {
    return this.queues[TRUST.indexOf(trust)] as FairQueue<Waiter>;
  }

  /** Refuses a waiting request, or else the new one. */
  private makeRoom(turn: HashingTurn): void {
    const queue = this.giveWay(turn);
    if (queue === undefined) throw tooMany();
    queue.dropFromLongest()?.refuse(tooMany());
  }

  /**
   * The queue that gives a place to a new client: the least trusted one below the client's own, or its own if another
   * client has more waiting there, or a more trusted one that has more than half of all places.
   */
  private giveWay(turn: HashingTurn): FairQueue<Waiter> | undefined {
    const own = this.queueOf(turn);
    const index = this.queues.indexOf(own);
    const worse = this.queues.slice(index + 1).findLast((queue) => queue.size > 0);
    if (worse !== undefined) return worse;
    if (own.longest >= own.lengthOf(turn.client) + 2) return own;
    return this.queues.slice(0, index).find((queue) => queue.size > this.options.waiting / 2);
  }

  private leave(tookMs: number): void {
    if (this.waiting === 0) this.running -= 1;
    else void this.handOver(tookMs * this.options.rest);
  }

  private async handOver(restMs: number): Promise<void> {
    if (restMs > 0) await sleep(restMs, undefined, { ref: false });
    const next = this.next();
    if (next === undefined) this.running -= 1;
    else next.enter();
  }

  /** One of each queue in turn. */
  private next(): Waiter | undefined {
    for (let step = 1; step <= TRUST.length; step++) {
      const index = (this.lastQueue + step) % TRUST.length;
      const waiter = this.queues[index]?.shift();
      if (waiter === undefined) continue;
      this.lastQueue = index;
      return waiter;
    }
    return undefined;
  }
}

function tooMany(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'Too many logins at once', { retryAfterSeconds: 5, level: 'warn' });
}
