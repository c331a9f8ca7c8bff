import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
      const log = new RotatingLog(file, 10);
      log.write(Buffer.from(text));
      log.close();
    };
    for (const text of ['one....\n', 'two....\n', 'three..\n', 'four...\n', 'x\n']) write(text);
    const content = (name: string) => readFileSync(name, 'utf8');
    expect([file, `${file}.1`, `${file}.2`].map(content)).toEqual(['four...\nx\n', 'three..\n', 'two....\n']);
    expect(existsSync(`${file}.3`)).toBe(false);
  });
});
