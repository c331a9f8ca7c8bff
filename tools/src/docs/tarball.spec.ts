import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tarball } from './tarball.js';

const run = promisify(execFile);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tarball-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('tarball', () => {
  it('is read by tar: names, and contents of any size', async () => {
    const files = new Map<string, string | Buffer>([
      ['package/package.json', '{}'],
      ['package/empty.txt', ''],
      ['package/中文.md', '内容'],
      ['package/block.bin', Buffer.alloc(512, 7)],
      ['package/more.bin', Buffer.alloc(1_300, 8)],
      [`package/${'long/'.repeat(20)}${'n'.repeat(100)}`, 'far'],
    ]);
    writeFileSync(join(folder, 'a.tgz'), tarball(files));
    const { stdout } = await run('tar', ['-tzf', 'a.tgz', '--quoting-style=literal'], { cwd: folder });
    expect(stdout.trim().split('\n')).toEqual([...files.keys()]);
    await run('tar', ['-xzf', 'a.tgz'], { cwd: folder });
    for (const [name, content] of files) {
      expect(readFileSync(join(folder, name)), name).toEqual(Buffer.from(content));
    }
  });

  it('refuses a name that would be cut', () => {
    expect(() => tarball(new Map([['a'.repeat(101), '']]))).toThrow(RangeError);
  });
});
