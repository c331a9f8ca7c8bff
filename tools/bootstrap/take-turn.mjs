import { setTimeout as delay } from 'node:timers/promises';
import { tryLock } from './process-lock.mjs';
import { startStep } from './progress.mjs';
import { localized } from './language.mjs';

/** Waits until no other process holds the lock file, saying so, and takes it. */
export async function takeTurn(file, doing) {
  let step;
  for (;;) {
    const { lock, holder } = tryLock(file);
    if (lock !== undefined) {
      step?.end();
      return lock;
    }
    step ??= startStep(
      localized(
        `Waiting for another start that ${doing} (pid ${holder.pid})`,
        `等待另一个进程完成${doing}（PID ${holder.pid}）`,
      ),
    );
    await delay(250);
  }
}
