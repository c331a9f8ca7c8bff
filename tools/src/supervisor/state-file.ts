import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from '@gatehouse/net';
import { isRunning, startTimeOf, type ProcessIdentity } from '../../bootstrap/process-identity.mjs';

export interface RecordedService extends ProcessIdentity {
  name: string;
  url?: string | undefined;
}

/** What other commands and the next start need to know about a running platform. Holds a password: mode 0600. */
export interface PlatformState extends ProcessIdentity {
  databaseUrl?: string | undefined;
  isEmbedded: boolean;
  postgresPid?: number | undefined;
  services: RecordedService[];
  /** By the variable that names each. */
  ports?: Readonly<Record<string, number>>;
}

function stateFile(home: string): string {
  return join(home, 'state.json');
}

export function writeState(home: string, state: PlatformState): void {
  writePrivate(stateFile(home), JSON.stringify(state));
}

/** What the last platform of this home left or keeps there; undefined after a clean stop. */
export function readState(home: string): PlatformState | undefined {
  try {
    return JSON.parse(readFileSync(stateFile(home), 'utf8')) as PlatformState;
  } catch {
    return undefined; // none, or cut short: as good as none
  }
}

/** The state of the platform that runs in this home now. */
export function runningState(home: string): PlatformState | undefined {
  const state = readState(home);
  return state !== undefined && isRunning(state) ? state : undefined;
}

export function removeState(home: string): void {
  rmSync(stateFile(home), { force: true });
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid) };
}
