import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@gatehouse/platform';
import { FairQueue } from '@gatehouse/net';

/**
 * What is known of those who ask: they have logged in before from where they are; nothing; nobody could log in from there
 * lately. The three are served in turn, and when there is no more room the latter give way to the former; half of it is
 * left to them, for anybody may have an account and log in with it all day.
 */
const TRUST = ['known', 'new', 'failing'] as const;
export type HashingTrust = (typeof TRUST)[number];

/** For whom a password is hashed. */
export interface HashingTurn {
  /** Turns go round among clients: whoever asks a hundred times waits behind their own questions. */
  readonly client: string;
  readonly trust: HashingTrust;
  /** Asked when the turn has come: raises when there is nothing to hash any more. */
  readonly assertWanted?: () => void;
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
  private readonly lanes = TRUST.map(() => new FairQueue<Waiter>());
  private readonly options: HashingSlotsOptions;
  private running = 0;
  private lastLane = 0;

  constructor(options: HashingSlotsOptions) {
    this.options = options;
  }

  private get waiting(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.size, 0);
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
    // The slot is handed over, so `running` stays as it is.
    await new Promise<void>((enter, refuse) => this.laneOf(turn).push(turn.client, { enter, refuse }));
  }

  private laneOf({ trust }: HashingTurn): FairQueue<Waiter> {
    return this.lanes[TRUST.indexOf(trust)] as FairQueue<Waiter>;
  }

  /** Somebody who waits gives way, or else the newcomer is refused. */
  private makeRoom(turn: HashingTurn): void {
    const lane = this.giveWay(turn);
    if (lane === undefined) throw tooMany();
    lane.dropFromLongest()?.refuse(tooMany());
  }

  /**
   * The lane that gives way to a newcomer: the least entitled one that is less so than theirs, or their own when somebody
   * there has more waiting than they, or a better one that has taken more than half of the room.
   */
  private giveWay(turn: HashingTurn): FairQueue<Waiter> | undefined {
    const own = this.laneOf(turn);
    const index = this.lanes.indexOf(own);
    const worse = this.lanes.slice(index + 1).findLast((lane) => lane.size > 0);
    if (worse !== undefined) return worse;
    if (own.longest >= own.lengthOf(turn.client) + 2) return own;
    return this.lanes.slice(0, index).find((lane) => lane.size > this.options.waiting / 2);
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

  /** One of each lane in turn. */
  private next(): Waiter | undefined {
    for (let step = 1; step <= TRUST.length; step++) {
      const index = (this.lastLane + step) % TRUST.length;
      const waiter = this.lanes[index]?.shift();
      if (waiter === undefined) continue;
      this.lastLane = index;
      return waiter;
    }
    return undefined;
  }
}

function tooMany(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'Too many logins at once', { retryAfterSeconds: 5, level: 'warn' });
}
