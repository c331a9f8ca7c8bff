import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder, writePrivate } from '@gatehouse/net';
import type { ServiceRequest } from './service-request.js';

/** In the first line of what is written, so that nothing else is ever overwritten or removed. */
export const MARKER = 'Made by gatehouse-agent service install';

export type PlannedFile =
  /** For its owner alone; its folder, too. `isKey`: never shown. */
  | { path: string; kind: 'private'; text: string; isKey?: true }
  | { path: string; kind: 'text'; text: string; encoding?: 'utf16le' }
  /** A program. */
  | { path: string; kind: 'copy'; of: string };

/** All that a service is made of, in one place: shown, written, or removed. */
export interface ServicePlan {
  /** The file that tells whether the service is installed; among `files`. */
  definition: string;
  files: PlannedFile[];
  /** Folders of this service alone. */
  folders: string[];
  /** Folders that are removed when they are empty. */
  shared: string[];
  /** Before anything is written. */
  prepare: string[][];
  start: string[][];
  /** Of a service that was installed before. */
  restart: string[][];
  stop: string[][];
  /** After the files are gone. */
  forget: string[][];
  check: string[];
  /** Nobody has tried the plan on this system. */
  untried: boolean;
  /** The service ends with the session of the user unless this is run. */
  linger: string[] | null;
}

/** The program, the settings and the key, which every service has. */
export function commonFiles(
  { config, key }: Pick<ServiceRequest, 'config' | 'key'>,
  program: { path: string; of: string },
  places: { config: string; key: string },
): PlannedFile[] {
  return [
    { path: program.path, kind: 'copy', of: program.of },
    { path: places.config, kind: 'private', text: config },
    { path: places.key, kind: 'private', text: `${key}\n`, isKey: true },
  ];
}

/** Runs a command; its output and its exit code. */
export type RunCommand = (command: readonly string[]) => { status: number; output: string };

export function isInstalled({ definition }: ServicePlan): boolean {
  return existsSync(definition);
}

/** Whether `install` made what is there. */
export function isOurs({ definition, files }: ServicePlan): boolean {
  const file = files.find(({ path }) => path === definition);
  const encoding = file?.kind === 'text' ? file.encoding : undefined;
  return readFileSync(definition, encoding ?? 'utf8').includes(MARKER);
}

/** Writes and starts all of it, or nothing: a service that was there before keeps its files. @throws Error */
export function install(plan: ServicePlan, run: RunCommand): void {
  const wasThere = isInstalled(plan);
  try {
    for (const command of plan.prepare) must(run, command);
    for (const file of plan.files) write(file);
    for (const command of wasThere ? plan.restart : plan.start) must(run, command);
  } catch (error) {
    if (!wasThere) remove(plan, run);
    throw error;
  }
}

/** Stops the service and removes what `install` wrote. */
export function remove(plan: ServicePlan, run: RunCommand): void {
  for (const command of plan.stop) run(command);
  for (const { path } of plan.files) rmSync(path, { force: true });
  for (const folder of plan.folders) rmSync(folder, { recursive: true, force: true });
  for (const folder of plan.shared) removeIfEmpty(folder);
  for (const command of plan.forget) run(command);
}

function write(file: PlannedFile): void {
  if (file.kind === 'private') {
    makePrivateFolder(dirname(file.path));
    return writePrivate(file.path, file.text);
  }
  mkdirSync(dirname(file.path), { recursive: true, mode: 0o755 });
  const draft = `${file.path}.new`;
  if (file.kind === 'copy') copyFileSync(file.of, draft);
  else writeFileSync(draft, file.encoding ? `\ufeff${file.text}` : file.text, file.encoding ?? 'utf8');
  chmodSync(draft, file.kind === 'copy' ? 0o755 : 0o644);
  renameSync(draft, file.path);
}

function must(run: RunCommand, command: readonly string[]): void {
  const { status, output } = run(command);
  if (status !== 0) throw new Error(`${command.join(' ')}: ${output.trim() || `exit code ${status}`}`);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is used by another service, or was never there.
  }
}

/** What `--dry-run` prints: everything but the key. */
export function planText(plan: ServicePlan): string {
  const files = plan.files.map((file) => {
    if (file.kind === 'copy') return `# ${file.path} (0755, a copy of ${file.of})\n`;
    if (file.kind === 'text') return `# ${file.path} (0644)\n${file.text}`;
    return `# ${file.path} (0600)\n${file.isKey ? '(the key)\n' : file.text}`;
  });
  const commands = (heading: string, list: string[][]): string[] =>
    list.length === 0 ? [] : [`# ${heading}\n${list.map((command) => `${command.join(' ')}\n`).join('')}`];
  return [...commands('first', plan.prepare), ...files, ...commands('then', plan.start)].join('\n');
}
