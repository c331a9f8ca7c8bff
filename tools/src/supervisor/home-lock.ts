import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { tryLock, type OwnedLock } from '../../bootstrap/process-lock.mjs';
import { ensureWritable } from '../../bootstrap/writable.mjs';

// The former platform may be about to notice that its npm is gone (a look every second), and then stops within five.
const NOTICE_MS = 2_000;
const STOP_MS = 10_000;

/** Takes a home for this process; waits for a platform that is stopping, refuses beside one that runs. */
export async function takeHome(home: string, notify: (line: string) => void): Promise<OwnedLock> {
  mkdirSync(join(home, '..'), { recursive: true });
  ensureWritable([home], 'the platform keeps its data there (GATEHOUSE_HOME)');
  const started = Date.now();
  let announced = false;
  for (;;) {
    const { lock, holder } = tryLock(join(home, 'platform.lock'), { state: 'running' });
    if (lock !== undefined) return lock;
    const isStopping = holder['state'] === 'stopping';
    if (Date.now() - started > (isStopping ? STOP_MS : NOTICE_MS)) {
      throw new PlainFailure(`Gatehouse already runs in ${home} (pid ${holder.pid}).`, {
        advice: [`Stop it (kill ${holder.pid}), or give this one a GATEHOUSE_HOME and ports of its own.`],
      });
    }
    if (isStopping && !announced) notify(`Waiting for the former platform (pid ${holder.pid}) to stop`);
    announced ||= isStopping;
    await delay(50);
  }
}
