import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the demonstration needs to be used; only this file and its first print ever hold the secrets. */
export interface DemoSecrets {
  readonly developerPassword: string;
  readonly viewerPassword: string;
  readonly applicationSecret: string;
  readonly personalKey: string;
}

const FILE = 'demo.json';
const NAMES = ['developerPassword', 'viewerPassword', 'applicationSecret', 'personalKey'] as const;

/** What an earlier run stored; empty if the file is damaged. */
export function readDemoFile(home: string): Partial<DemoSecrets> {
  let stored: unknown;
  try {
    stored = JSON.parse(readFileSync(join(home, FILE), 'utf8'));
  } catch {
    // Absent or damaged: new secrets take the place of what it held.
    return {};
  }
  if (typeof stored !== 'object' || stored === null) return {};
  const given = stored as Record<string, unknown>;
  return Object.fromEntries(NAMES.flatMap((name) => (typeof given[name] === 'string' ? [[name, given[name]]] : [])));
}

export function writeDemoFile(home: string, secrets: DemoSecrets): void {
  writeFileSync(join(home, FILE), `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
}
