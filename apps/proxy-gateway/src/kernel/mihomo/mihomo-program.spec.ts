import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';

const SOURCES = new URL('../../../test/support/typescript-sources.mjs', import.meta.url).href;
const PROGRAM = new URL('./mihomo-program.ts', import.meta.url).href;

/** A process that starts the program, prints its id, and ends in the way given by `end`. */
const owner = (executable: string, end: string): string => `
  import { MihomoProgram } from ${JSON.stringify(PROGRAM)};
  const end = (pid) => process.stdout.write(pid + '\\n', () => ${end});
  const program = new MihomoProgram({ executable: ${JSON.stringify(executable)}, onExit() {} });
  program.onLine(end);
  program.start().catch(() => undefined);`;

it.each([
  ['ends on its own', 'process.exit(0)', [0, null]],
  ['is killed', "process.kill(process.pid, 'SIGKILL')", [null, 'SIGKILL']],
])('does not outlive the process that started it and %s', async (_how, end, ended) => {
  const folder = mkdtempSync(join(tmpdir(), 'mihomo-program-'));
  try {
    const executable = join(folder, 'mihomo');
    writeFileSync(executable, '#!/bin/sh\necho $$\nexec /bin/sleep 60\n');
    chmodSync(executable, 0o700);
    const args = ['--no-warnings', `--import=${SOURCES}`, '--input-type=module', '-e'];
    const child = spawn(process.execPath, [...args, owner(executable, end)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await once(child, 'close')).toEqual(ended);
    const pid = Number(said);
    expect(pid).toBeGreaterThan(1);
    await waitFor(() => !isRunning(pid));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
