import { AsyncLocalStorage } from 'node:async_hooks';
import { HashingSlots, type HashingTurn } from './hashing-slots.js';

/** Hashes that belong to no client, for example for new accounts. */
const ANYBODY: HashingTurn = { client: '', trust: 'new' };

/** For the whole process. The rest leaves room on one core to answer refused requests. */
const slots = new HashingSlots({ slots: 1, waiting: 200, rest: 0.5 });
const turns = new AsyncLocalStorage<HashingTurn>();

/** Runs a password check; its hashes take turns with those of other clients. */
export async function hashingFor<T>(turn: HashingTurn, check: () => Promise<T>): Promise<T> {
  return turns.run(turn, check);
}

/** Runs one hash in its turn. @throws SERVICE_UNAVAILABLE if too many are waiting. */
export async function inTurn<T>(hash: () => Promise<T>): Promise<T> {
  return slots.run(turns.getStore() ?? ANYBODY, hash);
}
