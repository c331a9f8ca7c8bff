import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const HAS_PROC = process.platform === 'linux';

/** Whether a process with this id is running. A zombie is not: it only waits for its parent to notice. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return stateOf(pid) !== 'Z';
}

function stateOf(pid: number): string | undefined {
  if (HAS_PROC) return statFields(pid)?.[0];
  return psField(pid, 'stat')?.charAt(0);
}

/** Parent of a process, or undefined when it is gone. */
export function parentOf(pid: number): number | undefined {
  const value = HAS_PROC ? statFields(pid)?.[1] : psField(pid, 'ppid');
  return value === undefined ? undefined : Number(value);
}

/** Fields of /proc/<pid>/stat from the state on; the name before them may hold spaces and brackets. */
function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    // The process ended between two looks.
    return undefined;
  }
}

function psField(pid: number, field: 'stat' | 'ppid' | 'command'): string | undefined {
  const { status, stdout } = spawnSync('ps', ['-o', `${field}=`, '-p', `${pid}`], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Whether a process is a PostgreSQL server of this data directory: every one of them works inside it. */
export function worksIn(pid: number, data: string): boolean {
  if (!isAlive(pid)) return false;
  if (!HAS_PROC) return psField(pid, 'command')?.includes(data) ?? false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    // Gone, or another user's process, which cannot be ours.
    return false;
  }
}

/** Live processes of a data directory: the postmaster and, for a moment after it was killed, its children. */
export function processesIn(data: string): number[] {
  if (!HAS_PROC) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => worksIn(pid, data));
}

/** Waits until a condition holds; false when `timeoutMs` passed first. */
export async function eventually(condition: () => boolean, timeoutMs: number, intervalMs = 10): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > end) return false;
    await delay(intervalMs);
  }
  return true;
}
