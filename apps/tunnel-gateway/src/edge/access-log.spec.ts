import { mkdtempSync, readFileSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoggedRequest } from '@gatehouse/tunnel-kernel';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessLine } from './access-line.js';
import { AccessLog } from './access-log.js';

const REQUEST: LoggedRequest = {
  startedAt: Date.UTC(2026, 10, 29, 18, 5, 6),
  visitor: '192.0.2.1',
  method: 'GET',
  authority: 'a.test:8080',
  target: '/a?token=***',
  version: '1.1',
  status: 200,
  bytes: 2326,
  referer: 'https://b.test/',
  userAgent: 'curl/8.15.0',
};
const COMMON = '192.0.2.1 - - [29/Nov/2026:18:05:06 +0000] "GET /a?token=*** HTTP/1.1" 200 2326';

describe('a line of the access log', () => {
  it('has the common formats', () => {
    expect(accessLine(REQUEST, 'common')).toBe(`${COMMON}\n`);
    expect(accessLine(REQUEST, 'combined')).toBe(`${COMMON} "https://b.test/" "curl/8.15.0"\n`);
    expect(accessLine(REQUEST, 'vhost_combined')).toBe(`a.test:8080 ${COMMON} "https://b.test/" "curl/8.15.0"\n`);
    const bare = { ...REQUEST, version: 'h2', status: null, bytes: 0, referer: undefined, userAgent: undefined };
    expect(accessLine(bare, 'combined')).toMatch(/ HTTP\/2\.0" - - "-" "-"\n$/);
  });

  it('stays one line, whatever a visitor sends', () => {
    const userAgent = 'a"b\\c\nd\r\te\u001b[2Jé\u2028\u0085';
    const line = accessLine({ ...REQUEST, userAgent, authority: 'a b' }, 'vhost_combined');
    expect(line).toMatch(/^[\x20-\x7e]+\n$/);
    expect(line).toContain(String.raw`"a\"b\\c\x0ad\x0d\x09e\x1b[2J\xc3\xa9`);
    expect(line.startsWith(String.raw`a\x20b 192`)).toBe(true);
  });
});

describe('the file', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'access-log-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  function start(name: string): { log: AccessLog; file: string; warnings: string[] } {
    const warnings: string[] = [];
    const quiet = (): void => undefined;
    const warn = (message: string): void => void warnings.push(message);
    const file = join(folder, name);
    const log = new AccessLog({ file, format: 'common' }, { debug: quiet, info: quiet, warn, error: quiet });
    return { log, file, warnings };
  }

  const linesIn = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1;

  it('is made again after it was moved or deleted, and loses no line', async () => {
    const { log, file } = start('rotated');
    log.add(REQUEST);
    await waitFor(() => linesIn(file) === 1);
    renameSync(file, `${file}.1`);
    log.add(REQUEST);
    log.add(REQUEST);
    await waitFor(() => linesIn(file) === 2);
    unlinkSync(file);
    log.add(REQUEST);
    await log.close();
    expect([linesIn(`${file}.1`), linesIn(file)]).toEqual([1, 1]);
  });

  it('gets all lines in order, and those of the end', async () => {
    const { log, file } = start('many');
    for (let bytes = 1; bytes <= 5_000; bytes += 1) log.add({ ...REQUEST, bytes });
    await log.close();
    const sizes = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.split(' ').at(-1)));
    expect(sizes).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
  });

  it('that cannot be written keeps nobody waiting: lines are dropped at a limit, with one report', async () => {
    const { log, warnings } = start(join('missing', 'folder'));
    const long = { ...REQUEST, target: `/${'x'.repeat(9_000)}` };
    for (let count = 0; count < 1_000; count += 1) log.add(long);
    await waitFor(() => warnings.length > 0);
    await log.close();
    expect(warnings).toEqual(['the access log cannot be written']);
  });
});
