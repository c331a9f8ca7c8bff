import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The script that starts a program with the libraries that were unpacked beside it (none: the system's own). */
export function wrapperScript(target: string, libraries: string[]): string {
  const path = libraries.map(quoted).join(':');
  const set =
    path === '' ? '' : `LD_LIBRARY_PATH=${path}"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\nexport LD_LIBRARY_PATH\n`;
  return `#!/bin/sh\n${set}exec ${quoted(target)} "$@"\n`;
}

export function writeWrapper(bin: string, program: string, target: string, libraries: string[]): string {
  mkdirSync(bin, { recursive: true });
  const file = join(bin, program);
  const draft = join(bin, `.${program}.${process.pid}`);
  rmSync(draft, { force: true });
  writeFileSync(draft, wrapperScript(target, libraries));
  chmodSync(draft, 0o755);
  renameSync(draft, file);
  return file;
}
