import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning, startTimeOf } from '../../bootstrap/process-identity.mjs';
import { tryLock } from '../../bootstrap/process-lock.mjs';

const TAKE_AND_SAY = `
  import(process.argv[1]).then(({ tryLock }) => {
    const { lock } = tryLock(process.argv[2]);
    process.stdout.write(lock ? 'taken' : 'refused');
    setTimeout(() => undefined, lock ? 60_000 : 0);
  });`;
const MODULE = new URL('../../bootstrap/process-lock.mjs', import.meta.url).href;

describe('tryLock', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
    file = join(folder, 'some.lock');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is acquired once, names its holder, and is free again after release', () => {
    const first = tryLock(file, { state: 'running' });
    expect(tryLock(file).holder).toMatchObject({ pid: process.pid, state: 'running' });
    first.lock?.update({ state: 'stopping' });
    expect(tryLock(file).holder).toMatchObject({ pid: process.pid, state: 'stopping' });
    first.lock?.release();
    expect(existsSync(file)).toBe(false);
    const second = tryLock(file);
    expect(second.lock).toBeDefined();
    second.lock?.release();
  });

  it('is refused while its process lives, and taken over when that was killed', async () => {
    const holder = spawn(process.execPath, ['-e', TAKE_AND_SAY, MODULE, file]);
    await once(holder.stdout, 'data');
    expect(tryLock(file).holder?.pid).toBe(holder.pid);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const { lock } = tryLock(file);
    expect(lock).toBeDefined();
    lock?.release();
  });

  it.runIf(process.platform === 'linux')('does not take a reused pid for its former holder', () => {
    writeFileSync(file, JSON.stringify({ pid: process.pid, startTime: '1' }));
    const { lock } = tryLock(file);
    expect(lock).toBeDefined();
    lock?.release();
  });

  it.each(['', '{"pid":', '{}', '{"pid":-1}'])('replaces a damaged lock file: %j', (content) => {
    writeFileSync(file, content);
    const { lock } = tryLock(file);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
    lock?.release();
  });

  it('goes to exactly one of many that find a stale lock at the same moment', async () => {
    writeFileSync(file, JSON.stringify({ pid: 2 ** 22 + 1, startTime: '1' }));
    const racers = Array.from({ length: 6 }, () => spawn(process.execPath, ['-e', TAKE_AND_SAY, MODULE, file]));
    try {
      const said = await Promise.all(racers.map(async (racer) => String((await once(racer.stdout, 'data'))[0])));
      expect(said.sort()).toEqual(['refused', 'refused', 'refused', 'refused', 'refused', 'taken']);
    } finally {
      for (const racer of racers) racer.kill('SIGKILL');
    }
  });
});

describe('isRunning', () => {
  it('knows this process, and not one that never was', () => {
    expect(isRunning({ pid: process.pid, startTime: startTimeOf(process.pid) })).toBe(true);
    expect(isRunning({ pid: 2 ** 22 + 1 })).toBe(false);
    expect(isRunning({ pid: Number.NaN })).toBe(false);
  });
});
