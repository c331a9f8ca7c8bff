import { readFileSync } from 'node:fs';

const START_TIME_FIELD = 19; // field 22 of /proc/<pid>/stat, counted after the parenthesised name
const STATE_FIELD = 0;
const PARENT_FIELD = 1;

function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // no such process, or a system without /proc
  }
}

/** When a process started, in a form that distinguishes a reused pid from the original one; undefined if the system does not report it. */
export function startTimeOf(pid) {
  return statFields(pid)?.[START_TIME_FIELD];
}

export function parentOf(pid) {
  const parent = Number(statFields(pid)?.[PARENT_FIELD]);
  return Number.isInteger(parent) ? parent : undefined;
}

/** True when the very process that was recorded still runs (a zombie and a reused pid do not count). */
export function isRunning({ pid, startTime }) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  const fields = statFields(pid);
  if (fields === undefined) return true;
  if (fields[STATE_FIELD] === 'Z') return false;
  return startTime === undefined || fields[START_TIME_FIELD] === startTime;
}
