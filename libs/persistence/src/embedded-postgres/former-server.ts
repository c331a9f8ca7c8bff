import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bilingual, type Bilingual } from '@gatehouse/i18n';
import type { ClusterHome } from './cluster-home.js';
import { EmbeddedPostgresError } from './errors.js';
import { eventually, isAlive, parentOf, processesIn, worksIn } from './processes.js';

const STOP_TIMEOUT_MS = 30_000;

/** Process id in `postmaster.pid`, or undefined if there is no such file. */
export function readPostmasterPid(data: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Clears the way for a start: an orphaned server of this data directory is stopped (its sessions end, committed rows
 * stay), a stale `postmaster.pid` removed.
 * @throws ALREADY_RUNNING when its supervisor lives, or ORPHAN_WILL_NOT_STOP.
 */
export async function takeOver(home: ClusterHome, log: (text: Bilingual) => void): Promise<void> {
  const pid = readPostmasterPid(home.data);
  if (pid === undefined) return;
  if (worksIn(pid, home.data)) {
    refuseIfSupervised(home, pid);
    log(
      bilingual(
        `Stopping a PostgreSQL (process ${pid}) that an earlier start left running`,
        `正在停止之前启动后遗留的 PostgreSQL（进程 ${pid}）`,
      ),
    );
    await stopOrphan(home, pid);
  }
  await removeStalePidFile(home);
}

function refuseIfSupervised(home: ClusterHome, pid: number): void {
  const supervisor = home.record.supervisorPid;
  if (supervisor === undefined || parentOf(pid) !== supervisor || !isAlive(supervisor)) return;
  throw new EmbeddedPostgresError(
    'ALREADY_RUNNING',
    bilingual(
      `Gatehouse already runs with the home ${home.home} (process ${supervisor}): ` +
        'stop it first, or give this one another GATEHOUSE_HOME and other ports.',
      `Gatehouse 已在 ${home.home} 中运行（进程 ${supervisor}）：` +
        '请先停止它，或为此实例设置其他 GATEHOUSE_HOME 和端口。',
    ),
  );
}

async function stopOrphan(home: ClusterHome, pid: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    try {
      process.kill(pid, signal);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw willNotStop(home, pid, cause);
    }
    if (await eventually(() => !worksIn(pid, home.data), STOP_TIMEOUT_MS / 2)) return;
  }
  throw willNotStop(home, pid);
}

function willNotStop(home: ClusterHome, pid: number, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'ORPHAN_WILL_NOT_STOP',
    bilingual(
      `A PostgreSQL (process ${pid}) still works in ${home.data} and cannot be stopped: stop it with kill -INT ${pid}.`,
      `PostgreSQL（进程 ${pid}）仍在 ${home.data} 中运行且无法停止：请用 kill -INT ${pid} 停止它。`,
    ),
    { cause },
  );
}

/**
 * PostgreSQL looks only at whether the process id in the file exists, so a zombie or a reused id would block the
 * start. The file is the lock on the directory, so it is removed only after the last process there has ended.
 */
async function removeStalePidFile(home: ClusterHome): Promise<void> {
  if (!(await eventually(() => processesIn(home.data).length === 0, STOP_TIMEOUT_MS))) {
    throw willNotStop(home, processesIn(home.data)[0] ?? 0);
  }
  rmSync(join(home.data, 'postmaster.pid'), { force: true });
}
