import { FairQueue } from '@gatehouse/net';
import type { VisitorPolicyConfig } from '../config.js';
import { TunnelError } from '../errors.js';

/** Compares a password with an encoded hash. @throws TunnelError `overloaded` */
export type VerifyPassword = (encoded: string, password: string) => Promise<boolean>;

/** The policy to satisfy, and the visitor's address. */
export interface PasswordAsker {
  policy: VisitorPolicyConfig;
  address: string;
}

interface Waiter {
  enter(): void;
  refuse(error: TunnelError): void;
}

const MAX_AT_ONCE = 4;
const MAX_WAITING = 64;
const MAX_PASSWORD_BYTES = 1024;

/**
 * Runs slow hashes, a few at a time. Owners of policies take turns, and so do the visitors of each owner: a flood of
 * guesses only delays itself. When the queue is full, the party with the most waiting checks is refused.
 */
export class PasswordChecks {
  private readonly verify: VerifyPassword;
  private readonly ownerOf: (policy: VisitorPolicyConfig) => string | number | null;
  /** One entry for each waiter, so that owners take turns; the waiters themselves are in the queue of their owner. */
  private readonly turns = new FairQueue<FairQueue<Waiter>>();
  private readonly queues = new Map<string, FairQueue<Waiter>>();
  private running = 0;

  /** `ownerOf`: the owner of a policy, who gets the turn. */
  constructor(
    verify: VerifyPassword,
    ownerOf: (policy: VisitorPolicyConfig) => string | number | null = ({ id }) => id,
  ) {
    this.verify = verify;
    this.ownerOf = ownerOf;
  }

  /** An invalid hash never matches. @throws TunnelError `overloaded`, or an error of the hash function. */
  async check(encoded: string, password: string, asker: PasswordAsker): Promise<boolean> {
    if (encoded === '' || password === '' || Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return false;
    await this.turn(asker);
    try {
      return await this.verify(encoded, password);
    } finally {
      this.handOver();
    }
  }

  private async turn({ policy, address }: PasswordAsker): Promise<void> {
    if (this.running < MAX_AT_ONCE) {
      this.running += 1;
      return;
    }
    const owner = String(this.ownerOf(policy));
    if (this.turns.size >= MAX_WAITING) this.makeRoom(owner);
    const queue = this.queues.get(owner) ?? new FairQueue<Waiter>();
    this.queues.set(owner, queue);
    this.turns.push(owner, queue);
    // The turn passes to this check, so `running` stays the same.
    await new Promise<void>((enter, refuse) => queue.push(address, { enter, refuse }));
  }

  private makeRoom(owner: string): void {
    if (this.turns.longest < this.turns.lengthOf(owner) + 2) throw tooMany();
    const queue = this.turns.dropFromLongest();
    const waiter = queue?.dropFromLongest();
    this.forgetEmpty();
    waiter?.refuse(tooMany());
  }

  private handOver(): void {
    const next = this.turns.shift()?.shift();
    this.forgetEmpty();
    if (next) next.enter();
    else this.running -= 1;
  }

  private forgetEmpty(): void {
    for (const [owner, queue] of this.queues) if (queue.size === 0) this.queues.delete(owner);
  }
}

function tooMany(): TunnelError {
  return new TunnelError('overloaded', 'too many passwords to check');
}
