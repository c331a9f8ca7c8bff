import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What was unpacked beside a program. */
export interface Surroundings {
  /** Folders of shared libraries; none: the system's own. */
  libraries: readonly string[];
  /** A configuration of fonts, for programs that draw text where the system has none. */
  fonts?: string | undefined;
}

/** The script that starts a program with what was unpacked beside it. */
export function wrapperScript(target: string, { libraries, fonts }: Surroundings): string {
  const path = libraries.map(quoted).join(':');
  const set =
    path === '' ? '' : `LD_LIBRARY_PATH=${path}"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\nexport LD_LIBRARY_PATH\n`;
  const draw = fonts === undefined ? '' : `FONTCONFIG_FILE=${quoted(fonts)}\nexport FONTCONFIG_FILE\n`;
  return `#!/bin/sh\n${set}${draw}exec ${quoted(target)} "$@"\n`;
}

export function writeWrapper(bin: string, program: string, target: string, surroundings: Surroundings): string {
  mkdirSync(bin, { recursive: true });
  const file = join(bin, program);
  const draft = join(bin, `.${program}.${process.pid}`);
  rmSync(draft, { force: true });
  writeFileSync(draft, wrapperScript(target, surroundings));
  chmodSync(draft, 0o755);
  renameSync(draft, file);
  return file;
}
