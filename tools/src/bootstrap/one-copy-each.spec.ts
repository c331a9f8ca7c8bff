import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, it, onTestFinished } from 'vitest';
import { oneCopyEach } from '../../bootstrap/one-copy-each.mjs';

it('holds one version of a package once, wherever npm put its copies, and other versions beside it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'one-copy-each-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const [user, version] of Object.entries({ first: '1.0.0', second: '1.0.0', third: '2.0.0' })) {
    const copy = `node_modules/${user}/node_modules/@kinds/shared`;
    write(`node_modules/${user}/package.json`, JSON.stringify({ name: user, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${user}/index.js`, `module.exports = require('@kinds/shared/lib/kinds.js');`);
    write(`${copy}/package.json`, JSON.stringify({ name: '@kinds/shared', version }));
    write(`${copy}/lib/kinds.js`, `module.exports = { version: '${version}' };`);
  }
  write(
    'main.mjs',
    `export { default as a } from 'first';\nexport { default as b } from 'second';\nexport { default as c } from 'third';`,
  );
  const build = await rolldown({
    input: join(root, 'main.mjs'),
    platform: 'node',
    plugins: [oneCopyEach(['@kinds/shared'])],
  });
  const { output } = await build.write({ dir: join(root, 'out'), entryFileNames: 'main.mjs' });
  await build.close();
  const { a, b, c } = (await import(/* @vite-ignore */ join(root, 'out/main.mjs'))) as Record<string, object>;
  expect([a, c]).toEqual([{ version: '1.0.0' }, { version: '2.0.0' }]);
  expect(b).toBe(a);
  expect(Object.keys(output[0].modules).filter((id) => id.endsWith('kinds.js'))).toHaveLength(2);
});
