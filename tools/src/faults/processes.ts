import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { parentOf } from '../../bootstrap/process-identity.mjs';
import type { PlatformState } from '../supervisor/state-file.js';

export type Role =
  | 'PostgreSQL'
  | 'proxy-gateway'
  | 'kernel'
  | 'resource-sharing'
  | 'tunnel-gateway'
  | 'supervisor of the edge'
  | 'edge'
  | 'worker';

interface Running {
  pid: number;
  command: string;
}

function allProcesses(): Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
      } catch {
        return []; // it ended in between
      }
    });
}

/** A process and all that it started, itself first. */
export function withDescendants(pid: number): number[] {
  const found = [pid];
  const all = allProcesses().map((process) => ({ ...process, parent: parentOf(process.pid) }));
  for (const known of found) found.push(...all.filter(({ parent }) => parent === known).map((child) => child.pid));
  return found;
}

/** The process of a role in the platform whose state that is. @throws Error where there is none now. */
export function findProcess(role: Role, state: PlatformState, home: string, worker: number | undefined): number {
  const pid = candidates(role, state, home, worker);
  if (pid === undefined) throw new Error(`no process is the ${role} now`);
  return pid;
}

function candidates(role: Role, state: PlatformState, home: string, worker: number | undefined): number | undefined {
  const service = (name: string): number | undefined => state.services.find((known) => known.name === name)?.pid;
  switch (role) {
    case 'PostgreSQL':
      return state.postgresPid;
    case 'worker':
      return worker;
    case 'kernel':
      return childOf(service('proxy-gateway'), /kernel/);
    case 'supervisor of the edge':
      return supervisorOf(home);
    case 'edge':
      return childOf(supervisorOf(home), /edge/);
    case 'proxy-gateway':
    case 'resource-sharing':
    case 'tunnel-gateway':
      return service(role);
  }
}

function childOf(parent: number | undefined, command: RegExp): number | undefined {
  return allProcesses().find(({ pid, command: line }) => parentOf(pid) === parent && command.test(line))?.pid;
}

/** Its file for errors lies in the home; it has nothing else of ours in its environment or its command line. */
function supervisorOf(home: string): number | undefined {
  const errors = `${home}/tunnel-gateway/edge-errors.log`;
  return allProcesses().find(({ pid, command }) => command.includes('supervisor-main') && hasOpen(pid, errors))?.pid;
}

function hasOpen(pid: number, file: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/2`).startsWith(file);
  } catch {
    return false; // it ended, or belongs to another user
  }
}
