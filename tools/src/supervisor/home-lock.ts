import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { tryLock, type OwnedLock } from '../../bootstrap/process-lock.mjs';
import { ensureWritable } from '../../bootstrap/writable.mjs';
import { localized } from '../../bootstrap/language.mjs';

// The former platform may be about to notice that its npm is gone (a look every second), and then stops within five.
const NOTICE_MS = 2_000;
const STOP_MS = 10_000;

/** Takes a home for this process; waits for a platform that is stopping, refuses beside one that runs. */
export async function takeHome(home: string, notify: (line: string) => void): Promise<OwnedLock> {
  mkdirSync(join(home, '..'), { recursive: true });
  ensureWritable(
    [home],
    localized('the platform keeps its data there (GATEHOUSE_HOME)', '平台的数据保存在其中（GATEHOUSE_HOME）'),
  );
  const started = Date.now();
  let announced = false;
  for (;;) {
    const { lock, holder } = tryLock(join(home, 'platform.lock'), { state: 'running' });
    if (lock !== undefined) return lock;
    const isStopping = holder['state'] === 'stopping';
    if (Date.now() - started > (isStopping ? STOP_MS : NOTICE_MS)) {
      throw new PlainFailure(
        localized(
          `Gatehouse already runs in ${home} (pid ${holder.pid}).`,
          `Gatehouse 已在 ${home} 中运行（PID ${holder.pid}）。`,
        ),
        {
          advice: [
            localized(
              `Stop it (kill ${holder.pid}), or give this one a GATEHOUSE_HOME and ports of its own.`,
              `请停止它（kill ${holder.pid}），或为新实例设置单独的 GATEHOUSE_HOME 和端口。`,
            ),
          ],
        },
      );
    }
    if (isStopping && !announced) {
      notify(
        localized(
          `Waiting for the former platform (pid ${holder.pid}) to stop`,
          `等待上一个平台（PID ${holder.pid}）停止`,
        ),
      );
    }
    announced ||= isStopping;
    await delay(50);
  }
}
