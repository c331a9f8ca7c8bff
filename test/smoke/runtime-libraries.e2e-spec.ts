/** A machine with an old Node and without libatomic, which Node 26 needs: small Debian and Ubuntu installations are like that. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { ROOT, temporaryHome } from './launched-platform.js';

const run = promisify(execFile);
const LIBRARY = ['/usr/lib/x86_64-linux-gnu/libatomic.so.1', '/usr/lib/aarch64-linux-gnu/libatomic.so.1'].find(
  existsSync,
);

it('gets an older Node that runs there', { timeout: 300_000 }, async (context) => {
  if (process.env['GATEHOUSE_TEST_RUNTIMES'] !== 'all') context.skip('npm run runtimes downloads both versions');
  if (process.getuid?.() !== 0) context.skip('only root can hide a library');
  const node = requirePeer(context, 'node-20.19.0');
  const root = temporaryHome('gatehouse-runtime-');
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  cpSync(join(ROOT, 'tools/bootstrap'), join(root, 'tools/bootstrap'), { recursive: true });
  mkdirSync(join(root, '.gatehouse'));

  // In a mount namespace of its own: nothing else on the machine loses the library.
  const hide = LIBRARY === undefined ? '' : `mount --bind /dev/null ${LIBRARY} && `;
  const install = `import('${root}/tools/bootstrap/runtime.mjs').then(({ installRuntime }) => installRuntime()).then(console.log)`;
  const script = `${hide}exec "$0" --input-type=module --eval "$1"`;
  const { stdout, stderr } = await run('unshare', ['--mount', 'sh', '-c', script, node, install], { cwd: root });

  expect(stderr).toContain('it needs libatomic.so.1, which is not installed here');
  const binary = stdout.trim();
  const launchers = readFileSync(join(root, 'tools/bootstrap/runtime.mjs'), 'utf8');
  const fallback = /FALLBACK_VERSION = '([^']+)'/.exec(launchers)?.[1];
  expect((await run(binary, ['--version'])).stdout.trim()).toBe(`v${fallback}`);
});
