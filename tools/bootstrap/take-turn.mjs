import { setTimeout as delay } from 'node:timers/promises';
import { tryLock } from './process-lock.mjs';
import { startStep } from './progress.mjs';

/** Waits until no other process holds the lock file, saying so, and takes it. */
export async function takeTurn(file, doing) {
  let step;
  for (;;) {
    const { lock, holder } = tryLock(file);
    if (lock !== undefined) {
      step?.end();
      return lock;
    }
    step ??= startStep(`Waiting for another start that ${doing} (pid ${holder.pid})`);
    await delay(250);
  }
}
