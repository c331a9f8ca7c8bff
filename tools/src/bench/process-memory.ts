import { readFileSync, readdirSync } from 'node:fs';
import { parentOf } from '../../bootstrap/process-identity.mjs';

const KIB_PER_MIB = 1024;

export interface ProcessMemory {
  pid: number;
  title: string;
  /** Megabytes (MiB) in memory, shared pages counted in full. */
  rss: number;
  /** The same with each shared page divided among its users; undefined if the system does not report it. */
  pss: number | undefined;
}

function field(text: string, name: string): number | undefined {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
  return kib === undefined ? undefined : Number(kib) / KIB_PER_MIB;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the process ended, or belongs to another user
  }
}

/** All living processes below the given ones, themselves included. */
export function processTree(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = parentOf(pid);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = new Set<number>();
  const visit = (pid: number) => {
    if (found.has(pid)) return;
    found.add(pid);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  roots.forEach(visit);
  return [...found];
}

export function memoryOf(pid: number): ProcessMemory | undefined {
  const rss = field(readOrEmpty(`/proc/${pid}/status`), 'VmRSS');
  if (rss === undefined) return undefined;
  const title = readOrEmpty(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
  return { pid, title, rss, pss: field(readOrEmpty(`/proc/${pid}/smaps_rollup`), 'Pss') };
}
