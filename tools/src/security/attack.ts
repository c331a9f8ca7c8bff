import { ApiCallError } from '../tour/api-client.js';

/** One way in that must be closed. */
export interface Attack {
  name: string;
  /** Resolves to what was seen when the door held. @throws Breach when it did not */
  run(): Promise<string>;
}

/** A door that should be closed stood open. */
export class Breach extends Error {
  override readonly name = 'Breach';
}

/** The status with which a call was refused. @throws Breach when it was carried out, or failed as only defects do */
export async function refused(what: string, call: Promise<unknown>): Promise<number> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiCallError && error.status >= 400 && error.status < 500) return error.status;
    throw error instanceof ApiCallError ? new Breach(`${what}: ${error.message}`, { cause: error }) : error;
  }
  throw new Breach(`${what} was accepted`);
}

/** @throws Breach */
export function held(condition: boolean, breach: string): asserts condition {
  if (!condition) throw new Breach(breach);
}

/** Runs `work` and then `cleanup`, whatever came of it. */
export async function andClean<T>(work: () => Promise<T>, cleanup: () => Promise<unknown>): Promise<T> {
  try {
    return await work();
  } finally {
    await cleanup();
  }
}
