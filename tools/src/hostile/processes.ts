import { readdirSync, readFileSync } from 'node:fs';
import { findProcess, type Role } from '../faults/processes.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import type { Ground } from './ground.js';

const ROLES = [
  'proxy-gateway',
  'kernel',
  'resource-sharing',
  'tunnel-gateway',
  'supervisor of the edge',
  'edge',
  'PostgreSQL',
] as const;
/** More descriptors than before that say nothing: pools, logs, connections of the bystanders. */
const TOLERANCE = 24;

export type Census = ReadonlyMap<string, number>;

/** The processes of the platform and the agents, by what they are. A process that is not there has no entry. */
export function census(ground: Ground): Census {
  const found = new Map<string, number>();
  const note = (name: string, pid: number | undefined): void => {
    if (pid !== undefined) found.set(name, pid);
  };
  for (const role of ROLES) note(role, pidOf(role, ground));
  note('agent of the attacker', ground.attacker.agent.pid);
  note('agent of the bystander', ground.bystander.agent.pid);
  return found;
}

function pidOf(role: Role, { platform }: Ground): number | undefined {
  try {
    return findProcess(role, platform.state, platform.home, undefined);
  } catch {
    return undefined;
  }
}

/** Names of those that are not the same as before. */
export function changed(before: Census, now: Census): string[] {
  return [...before].filter(([name, pid]) => now.get(name) !== pid).map(([name]) => name);
}

function descriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // it ended
  }
}

export function countDescriptors(processes: Census): Map<string, number> {
  return new Map([...processes].map(([name, pid]) => [name, descriptors(pid)]));
}

export interface Held {
  text: string;
  isBack: boolean;
}

/** Waits until every process has given back what it held; says what is left, or how long it took. */
export async function awaitRelease(
  before: ReadonlyMap<string, number>,
  ground: Ground,
  withinMs: number,
): Promise<Held> {
  const began = performance.now();
  let left: string[] = [];
  const isBack = await eventuallyTrue(() => {
    left = [...countDescriptors(census(ground))]
      .filter(([name]) => name !== 'PostgreSQL')
      .map(([name, count]) => ({ name, more: count - (before.get(name) ?? count) }))
      .filter(({ more }) => more > TOLERANCE)
      .map(({ name, more }) => `${name} +${more}`);
    return Promise.resolve(left.length === 0);
  }, withinMs);
  return {
    isBack,
    text: isBack ? `none after ${((performance.now() - began) / 1_000).toFixed(0)} s` : left.join(', '),
  };
}

/** Largest resident memory so far, MiB. */
export function peakMemory(processes: Census): Map<string, number> {
  return new Map([...processes].map(([name, pid]) => [name, peakOf(pid)]));
}

function peakOf(pid: number): number {
  try {
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024);
  } catch {
    return 0; // it ended
  }
}
