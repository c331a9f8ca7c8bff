import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { GuessesThroughProxy } from './guesses-through-proxy.js';
import { freePorts, LaunchedPlatform, ROOT, temporaryHome, type Ports } from './launched-platform.js';

const run = promisify(execFile);
const TOUR = [join(ROOT, 'tools/dist/cli.js'), 'tour'];

describe.skipIf(process.platform !== 'linux')('npm run tour', { timeout: 120_000 }, () => {
  let home: string;
  let platform: LaunchedPlatform;
  let ports: Ports;

  beforeAll(async () => {
    home = temporaryHome('gatehouse-tour-');
    ports = await freePorts();
    platform = await new LaunchedPlatform(home, ports).ready();
  }, 120_000);

  afterAll(async () => {
    await platform.stop('SIGTERM');
    rmSync(home, { recursive: true, force: true });
  });

  /** What it prints, whatever its end. */
  const tour = async (language: Record<string, string> = {}): Promise<string> => {
    const env = programEnvironment({ GATEHOUSE_HOME: home, ...language });
    return await run(process.execPath, TOUR, { env }).then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
    );
  };

  it('refuses every attack of npm run security', async () => {
    const env = programEnvironment({ GATEHOUSE_HOME: home });
    const command = [join(ROOT, 'tools/dist/cli.js'), 'security', '--no-fuzz'];
    const { stdout } = await run(process.execPath, command, { env }).catch(({ stdout: printed }) => {
      throw new Error(String(printed));
    });
    expect(stdout).toContain('Every attack was refused.');
    expect(stdout.match(/^ok {4}/gm)).toHaveLength(23);
  });

  it('counts guesses through the proxy against the client that guesses, in all three services', async () => {
    const guesses = new GuessesThroughProxy(home, ports);
    for (const door of guesses.doors) {
      const close = await guesses.open(door);
      onTestFinished(close);
      await guesses.expectTheGuesserToPay(door);
    }
  });

  it('npm run hostile disturbs no bystander', async () => {
    const env = programEnvironment({ GATEHOUSE_HOME: home });
    const command = [join(ROOT, 'tools/dist/cli.js'), 'hostile', '--quick', '--running', '--seed', '1'];
    const { stdout } = await run(process.execPath, command, { env }).catch(({ stdout: printed }) => {
      throw new Error(String(printed));
    });
    expect(stdout).toContain('Nobody noticed.');
  });

  it('succeeds on a fresh platform and repeatedly on a used one', async () => {
    const first = await tour();
    expect(first).toContain('just created');
    expect(first).toContain('tunnel-gateway: from a private web server to a public domain');
    for (const printed of [first, await tour(), await tour()]) {
      expect(printed).toMatch(/Everything was as it should be/);
      expect(printed).not.toContain('FAIL');
    }
    const chinese = await tour({ LANGUAGE: '', LC_ALL: 'zh_CN.UTF-8' });
    expect(chinese).toContain('一切正常');
    expect(chinese).not.toMatch(/ok {4}[a-z]/);
  });
});
