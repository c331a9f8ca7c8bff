import { AsyncLocalStorage } from 'node:async_hooks';
import { HashingSlots, type HashingTurn } from './hashing-slots.js';

/** Work of nobody in particular: accounts that are made, and the like. */
const ANYBODY: HashingTurn = { client: '', trust: 'new' };

/** Of the whole process. The rest leaves room on one core for answering those who are refused. */
const slots = new HashingSlots({ slots: 1, waiting: 200, rest: 0.5 });
const turns = new AsyncLocalStorage<HashingTurn>();

/** Runs a check of a password; what it hashes waits its turn among those of other clients. */
export async function hashingFor<T>(turn: HashingTurn, check: () => Promise<T>): Promise<T> {
  return turns.run(turn, check);
}

/** Runs one hash when its turn has come. Raises SERVICE_UNAVAILABLE when too many wait. */
export async function inTurn<T>(hash: () => Promise<T>): Promise<T> {
  return slots.run(turns.getStore() ?? ANYBODY, hash);
}
