import { Breach } from '../security/attack.js';
import type { Chance } from '../trials/chance.js';
import type { Ground } from './ground.js';

export type Role = 'origin' | 'node' | 'proxy client' | 'visitor' | 'target' | 'agent' | 'API client';

export interface Assault {
  ground: Ground;
  chance: Chance;
  /** Share of the full number of requests, above 0 and up to 1. */
  scale: number;
}

/** Something that one hostile party does. */
export interface HostileAttack {
  name: string;
  role: Role;
  /** Part of the run in `npm test`. */
  quick?: boolean;
  /** By when all that it held has to be given back. Default: 20 s. */
  settleMs?: number;
  /** Resolves to what was sent. @throws Breach when the attacked side did what it should not, seen by the attacker itself */
  run(assault: Assault): Promise<string>;
}

/** How many of `full` to send. */
export function share({ scale }: Assault, full: number): number {
  return Math.max(1, Math.round(full * scale));
}

/** @throws Breach where there are findings: all of them in one */
export function noneOf(findings: readonly string[], what: string): void {
  if (findings.length === 0) return;
  const shown = findings.slice(0, 6).join('; ');
  throw new Breach(`${what}: ${shown}${findings.length > 6 ? ` and ${findings.length - 6} more` : ''}`);
}
