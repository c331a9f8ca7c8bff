import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../../bootstrap/process-identity.mjs';
import { readState } from './state-file.js';
import { localized } from '../../bootstrap/language.mjs';

const PATIENCE_MS = 6_000;

/**
 * Services stop when their supervisor is killed; this waits for those of the last platform in this home, and
 * ends the ones that do not.
 */
export async function clearLeftovers(home: string, notify: (line: string) => void): Promise<void> {
  const former = readState(home)?.services.filter(isRunning) ?? [];
  if (former.length === 0) return;
  const names = former.map(({ name }) => name).join(', ');
  notify(
    localized(
      `The last platform of this home was killed; waiting for ${names} to stop`,
      `上一个平台被强制结束；等待 ${names} 停止`,
    ),
  );
  const deadline = Date.now() + PATIENCE_MS;
  while (former.some(isRunning) && Date.now() < deadline) await delay(50);
  for (const service of former.filter(isRunning)) {
    notify(
      localized(
        `Ending ${service.name} (pid ${service.pid}), left over from the last platform`,
        `结束上一个平台遗留的 ${service.name}（PID ${service.pid}）`,
      ),
    );
    endGroup(service.pid);
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // it ended in this moment
  }
}
