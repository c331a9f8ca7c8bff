import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePrivateFolder, writePrivate, writePrivately, writePrivateOnce } from './private-files.js';

const isRoot = process.getuid?.() === 0;

describe('private files', () => {
  let folder: string;
  let umask: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'private-'));
    umask = process.umask();
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it.each([0o000, 0o022, 0o077])('are for their user only with the umask %o', async (mask) => {
    process.umask(mask);
    makePrivateFolder(join(folder, 'a', 'b'));
    writePrivate(join(folder, 'a', 'b', 'one'), '1');
    await writePrivately(join(folder, 'c', 'two'), '2');
    expect(['a', 'a/b', 'c'].map((path) => modeOf(join(folder, path)))).toEqual([0o700, 0o700, 0o700]);
    expect(['a/b/one', 'c/two'].map((path) => modeOf(join(folder, path)))).toEqual([0o600, 0o600]);
  });

  it('do not change the mode of an existing folder', () => {
    chmodSync(folder, 0o755);
    makePrivateFolder(folder);
    expect(modeOf(folder)).toBe(0o755);
  });

  it('replace an existing file, and leave no other file behind when that fails', async () => {
    const file = join(folder, 'file');
    writePrivate(file, 'old');
    writePrivate(file, 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
    mkdirSync(join(folder, 'taken'));
    expect(() => writePrivate(join(folder, 'taken'), 'x')).toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    await expect(writePrivately(join(folder, 'taken'), 'x')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'taken']);
  });

  it('are created once, by the first process', () => {
    const file = join(folder, 'once');
    expect([writePrivateOnce(file, 'first'), writePrivateOnce(file, 'second')]).toEqual([true, false]);
    expect(readFileSync(file, 'utf8')).toBe('first');
    expect(modeOf(file)).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['once']);
  });

  it.runIf(isRoot)('belong to the owner of their folder when root writes them', async () => {
    chownSync(folder, 65_534, 65_534);
    makePrivateFolder(join(folder, 'a', 'b'));
    writePrivate(join(folder, 'a', 'b', 'one'), '1');
    await writePrivately(join(folder, 'c', 'two'), '2');
    const owners = ['a', 'a/b', 'a/b/one', 'c', 'c/two'].map((path) => statSync(join(folder, path)).uid);
    expect(owners).toEqual([65_534, 65_534, 65_534, 65_534, 65_534]);
  });
});
