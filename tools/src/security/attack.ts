import { ApiCallError } from '../tour/api-client.js';

/** An attack that must be refused. */
export interface Attack {
  name: string;
  /** Resolves to what showed that it was refused. @throws Breach when it did not */
  run(): Promise<string>;
}

/** An attack got through. */
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
export function ensure(condition: boolean, breach: string): asserts condition {
  if (!condition) throw new Breach(breach);
}

/** Runs `work`, then `cleanup` in any case. */
export async function andClean<T>(work: () => Promise<T>, cleanup: () => Promise<unknown>): Promise<T> {
  try {
    return await work();
  } finally {
    await cleanup();
  }
}
