import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, programEnvironment, type TestDatabase } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from './launched-platform.js';

const run = promisify(execFile);
const KEY = /[A-Za-z0-9_-]{43}/;

let database: TestDatabase;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  database = await createTestDatabase();
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-identity-'));
  env = programEnvironment({ GATEHOUSE_HOME: home, DATABASE_URL: database.url });
  await run(process.execPath, [join(ROOT, 'apps/tunnel-gateway/bundle/migrate.js')], { env });
});
afterAll(async () => {
  rmSync(String(env['GATEHOUSE_HOME']), { recursive: true, force: true });
  await database.drop();
});

/** The lines that a command prints. */
async function linesOf(program: string, args: string[]): Promise<string[]> {
  const command = run(program, args, { env, cwd: ROOT });
  const { stdout } = await command.catch((error: unknown) => {
    throw new Error(String((error as { stderr?: string }).stderr));
  });
  return stdout.trim().split('\n');
}

/** What `npm run tunnel:identity -- …` runs once everything is installed and built. */
const identity = (...args: string[]): Promise<string[]> =>
  linesOf(process.execPath, [join(ROOT, 'tools/dist/cli.js'), 'tunnel-identity', ...args]);

it('npm run tunnel identity changes the key of the gateway step by step, and reports a wrong order', async () => {
  expect(await linesOf('npm', ['run', '--silent', 'tunnel:identity', '--', 'status'])).toEqual([
    'no key yet: the gateway makes one when it starts',
  ]);
  const refused = await identity('exchange').catch((error: unknown) => String(error));
  expect(refused).toContain('tunnel-gateway: There is no next key: run prepare first');
  // Words, not a stack trace.
  expect(refused).not.toMatch(/^\s+at /m);
  await expect(identity('retire')).rejects.toThrow('There is no former key');
  await expect(identity('renew')).rejects.toThrow('tunnel:identity -- prepare | exchange');
  await expect(identity('exchange', 'soon')).rejects.toThrow('days: soon must be a number from 0 to 365');
  const [inUse = '', next = '', advice] = await identity('prepare');
  const [first] = KEY.exec(inUse) ?? [];
  const [second] = KEY.exec(next) ?? [];
  expect([inUse, next]).toEqual([`key in use: ${first}`, `next key: ${second}`]);
  expect(advice).toContain('Restart tunnel-gateway');
  expect((await identity('prepare')).slice(0, 2)).toEqual([inUse, next]);
  const [now, former] = await identity('exchange', '7');
  expect(now).toBe(`key in use: ${second}`);
  expect(former).toContain(
    `former key: ${first}, shown until ${new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)}`,
  );
  expect(await identity('status')).toEqual([now, former]);
  expect((await identity('retire')).slice(0, 2)).toEqual([`no longer shown: ${first}`, now]);
  expect(await identity('status')).toEqual([now]);
}, 120_000);
