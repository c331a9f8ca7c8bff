/** The launchers on the oldest Node that they are promised to run with. What they launch runs on the Node of the tests. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { freePorts, LaunchedPlatform, processesOf, ROOT, temporaryHome } from './launched-platform.js';

const OLDEST = 'node-20.19.0';
const run = promisify(execFile);

describe(`the launchers on ${OLDEST}`, { timeout: 120_000 }, () => {
  let home: string;
  beforeAll(() => {
    home = temporaryHome('gatehouse-launchers-');
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const launch = (context: TestContext, script: string, args: string[], node = process.execPath) => {
    const env: NodeJS.ProcessEnv = { ...process.env, GATEHOUSE_HOME: home, GATEHOUSE_NODE: node };
    for (const name of Object.keys(env)) if (/^(VITEST|npm_|NODE_|CI$|DATABASE_URL$)/.test(name)) delete env[name];
    return run(requirePeer(context, OLDEST), [join(ROOT, 'tools', script), ...args], { env, cwd: home });
  };

  it('list the commands', async (context) => {
    const { stdout } = await launch(context, 'run.mjs', ['help']);
    expect(stdout).toContain('npm run backup -- FILE');
  });

  it('build', async (context) => {
    const { stderr } = await launch(context, 'run.mjs', ['build']);
    expect(stderr).not.toContain('failed');
  });

  it('run a command, and report clearly why it fails', async (context) => {
    const failure = launch(context, 'run.mjs', ['db-url']);
    await expect(failure).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('no platform runs in') });
  });

  it.for(['backup', 'restore'])('refuse to run %s on a Node that is too old for it', async (command, context) => {
    const failure = launch(context, 'run.mjs', [command, 'some.gz'], requirePeer(context, OLDEST));
    const stderr: unknown = expect.stringMatching(/is Node v20\.19\.0; Node >= 24 is needed/);
    await expect(failure).rejects.toMatchObject({ code: 1, stderr });
  });

  it('run tests', async (context) => {
    const { stdout } = await launch(context, 'test.mjs', ['tools/src/bootstrap/test-summary.spec.ts']);
    expect(stdout).toMatch(/\d passed, 0 failed, 0 skipped/);
  });

  it('start the platform and stop it', async (context) => {
    const node = requirePeer(context, OLDEST);
    const platform = new LaunchedPlatform(home, await freePorts(), { GATEHOUSE_NODE: process.execPath }, node);
    await platform.ready();
    expect((await platform.stop('SIGINT')).code).toBe(0);
    expect(processesOf(home)).toEqual([]);
  });
});
