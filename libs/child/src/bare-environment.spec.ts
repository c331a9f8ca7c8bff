import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);
const PROGRAM = `
  const { bareEnvironment } = await import(${JSON.stringify(new URL('./bare-environment.ts', import.meta.url).href)});
  console.log(JSON.stringify(bareEnvironment()));`;

async function environmentOf(env: NodeJS.ProcessEnv): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM], { env });
  return JSON.parse(stdout);
}

it('passes on where Node keeps what it has compiled, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bare-environment-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(await environmentOf({ DATABASE_URL: 'postgres://secret', NODE_COMPILE_CACHE: folder })).toEqual({
    NODE_COMPILE_CACHE: folder,
  });
  expect(readdirSync(folder)).not.toEqual([]);
  expect(await environmentOf({ DATABASE_URL: 'postgres://secret' })).toEqual({});
});
