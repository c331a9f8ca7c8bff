import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogWatch } from './log-watch.js';
import { RotatingLog } from './rotating-log.js';

function line(level: string, message: string): string {
  return `${JSON.stringify({ time: 'now', level, message })}\n`;
}

describe('LogWatch', () => {
  let shown: string[];
  let watch: LogWatch;
  beforeEach(() => {
    shown = [];
    watch = new LogWatch((text) => shown.push(text));
  });

  it('shows warnings and errors of the log and nothing else', () => {
    watch.addOutput(Buffer.from(line('info', 'fine') + line('warn', 'odd') + line('error', 'bad')));
    expect(shown).toEqual(['warn: odd', 'error: bad']);
  });

  it('reads a line that arrives in pieces', () => {
    const bytes = Buffer.from(line('error', 'torn é'));
    for (const byte of bytes) watch.addOutput(Buffer.from([byte]));
    expect(shown).toEqual(['error: torn é']);
  });

  it('shows every line of the error output', () => {
    watch.addErrorOutput(Buffer.from('(node:1) Warning: x\n\nlast words\n'));
    expect(shown).toEqual(['(node:1) Warning: x', 'last words']);
  });

  it('cuts a flood short, and a line without end', () => {
    for (let i = 0; i < 1_000; i++) watch.addOutput(Buffer.from(line('error', `e${i}`)));
    expect(shown).toHaveLength(10);
    expect(shown.at(-1)).toBe('more of this is only in the log file');
    for (let i = 0; i < 100; i++) watch.addOutput(Buffer.alloc(10_000, 'x'));
    expect(Reflect.get(watch, 'rest').length).toBeLessThanOrEqual(80_000);
  });
});

describe('RotatingLog', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('keeps a bounded number of files, newest first, and goes on after a restart', () => {
    const file = join(folder, 'sub', 'service.log');
    const write = (text: string) => {
      const log = new RotatingLog(file, { maxBytes: 10 });
      log.write(Buffer.from(text));
      log.close();
    };
    for (const text of ['one....\n', 'two....\n', 'three..\n', 'four...\n', 'x\n']) write(text);
    const content = (name: string) => readFileSync(name, 'utf8');
    expect([file, `${file}.1`, `${file}.2`].map(content)).toEqual(['four...\nx\n', 'three..\n', 'two....\n']);
    expect(existsSync(`${file}.3`)).toBe(false);
  });

  it('is for its user alone, whatever the umask is', () => {
    const umask = process.umask(0);
    try {
      new RotatingLog(join(folder, 'logs', 'service.log')).close();
    } finally {
      process.umask(umask);
    }
    expect(statSync(join(folder, 'logs')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'logs', 'service.log')).mode & 0o777).toBe(0o600);
  });

  // Every write to this device fails with ENOSPC, as on a full disk.
  it.runIf(existsSync('/dev/full'))('drops its lines on a full disk, and says so once', () => {
    const notes: string[] = [];
    const file = join(folder, 'full.log');
    symlinkSync('/dev/full', file);
    const log = new RotatingLog(file, { notify: (line) => notes.push(line) });
    for (let i = 0; i < 3; i++) log.write(Buffer.from('one\ntwo\n'));
    log.close();
    expect(notes).toEqual([`its log ${file} cannot be written (the disk is full); it goes on without`]);
  });

  it('says how many lines are missing when it can be written again', () => {
    const notes: string[] = [];
    const file = join(folder, 'logs', 'service.log');
    // A file where the folder should be: nothing can be opened until it is gone.
    writeFileSync(join(folder, 'logs'), '');
    const log = new RotatingLog(file, { notify: (line) => notes.push(line) });
    log.write(Buffer.from('lost\nlost too\n'));
    rmSync(join(folder, 'logs'));
    log.write(Buffer.from('kept\n'));
    log.close();
    const [first, second] = readFileSync(file, 'utf8').trim().split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/^2 lines are missing/),
    });
    expect(second).toBe('kept');
    expect(notes[1]).toBe(`its log is written again; 2 lines are missing in ${file}`);
  });
});
