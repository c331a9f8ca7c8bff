import { createHmac } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonLogger } from '@gatehouse/platform';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditWitness } from './audit-witness.js';
import { compareWitness, type WitnessedState } from './compare-witness.js';
import { WitnessFile } from './witness-file.js';
import { WitnessHook } from './witness-hook.js';
import { parseWitnessLine, thinOut, type WitnessLine } from './witness-line.js';

const line = (id: number, at = new Date(id * 1_000).toISOString()): WitnessLine => ({ at, id, hash: `hash ${id}` });

let folder: string;
let said: string[];
const logger = {
  log: (message: string) => said.push(message),
  error: (message: string) => said.push(message),
} as unknown as JsonLogger;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'witness-'));
  said = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the witness file', () => {
  it('is appended to, readable by its owner only, and can be read back', async () => {
    const file = new WitnessFile(join(folder, 'deep', 'w.jsonl'));
    expect(await file.lines()).toEqual([]);
    for (const id of [1, 2, 3]) await file.append(line(id));
    expect(await file.lines()).toEqual([line(1), line(2), line(3)]);
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
  });

  it('continues after a partial line, as a full disk leaves it', async () => {
    const path = join(folder, 'w.jsonl');
    await new WitnessFile(path).append(line(1));
    appendFileSync(path, '{"at":"2026-01-0');
    await new WitnessFile(path).append(line(2));
    expect(await new WitnessFile(path).lines()).toEqual([line(1), line(2)]);
  });

  it('stays small, and keeps the newest and the highest entries', async () => {
    const path = join(folder, 'w.jsonl');
    const many = Array.from({ length: 40_000 }, (_, index) => line(index + 1));
    const highest = line(1_000_000, new Date(7_000).toISOString());
    writeFileSync(
      path,
      [...many.slice(0, 7), highest, ...many.slice(7)].map((one) => `${JSON.stringify(one)}\n`).join(''),
    );
    expect(statSync(path).size).toBeGreaterThan(2 * 1024 * 1024);
    const file = new WitnessFile(path);
    await file.append(line(40_001));
    const kept = await file.lines();
    expect(statSync(path).size).toBeLessThan(512 * 1024);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(kept.at(-1)).toEqual(line(40_001));
    expect(kept).toContainEqual(highest);
    expect(kept[0]).toEqual(line(1));
    await file.append(line(40_002));
    expect((await file.lines()).length).toBe(kept.length + 1);
  });

  it('ignores lines that the witness did not write', () => {
    expect(['', 'x', '{}', '[]', 'null', '{"at":"x","id":1,"hash":"h"}'].map(parseWitnessLine)).toEqual(
      Array.from({ length: 6 }, () => null),
    );
    expect(thinOut([line(1), line(2)], 4)).toEqual([line(1), line(2)]);
  });
});

describe('a witness', () => {
  it('writes the newest head once if several arrive together', async () => {
    const file = new WitnessFile(join(folder, 'w.jsonl'));
    const witness = new AuditWitness({ file, hook: null, logger });
    witness.saw({ lastId: 0, lastHash: '' });
    for (let id = 1; id <= 500; id++) witness.saw({ lastId: id, lastHash: `hash ${id}` });
    await witness.flush();
    const lines = await file.lines();
    expect(lines.at(-1)).toMatchObject({ id: 500, hash: 'hash 500' });
    expect(lines.length).toBeLessThan(10);
    expect(witness.problem).toBeNull();
  });

  it.runIf(process.platform === 'linux')('reports a full disk once, and delays nobody', async () => {
    const witness = new AuditWitness({ file: new WitnessFile('/dev/full'), hook: null, logger });
    for (let id = 1; id <= 20; id++) {
      witness.saw({ lastId: id, lastHash: 'h' });
      await witness.flush();
    }
    expect(witness.problem).toContain('ENOSPC');
    expect(said).toEqual(['the witness of the audit log cannot write']);
  });

  it('sends heads to another machine, signed', async () => {
    const origin = await startHttpOrigin();
    const secret = 'sixteen characters';
    const hook = new WitnessHook({ url: `${origin.url}/status/204`, secret, service: 'notes' });
    const witness = new AuditWitness({ file: null, hook, logger });
    witness.saw({ lastId: 7, lastHash: 'seven' });
    await witness.flush();
    await waitFor(() => origin.requests.length === 1);
    const [{ headers, body }] = origin.requests as [(typeof origin.requests)[number]];
    expect(JSON.parse(body.toString())).toMatchObject({
      type: 'audit.head',
      service: 'notes',
      last_id: 7,
      last_hash: 'seven',
    });
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
    await origin.close();
    witness.saw({ lastId: 8, lastHash: 'eight' });
    await witness.flush();
    expect(said).toEqual(['the witness of the audit log cannot write']);
  });
});

describe('the comparison of the log with its witness', () => {
  const state = (lastId: number, more: Partial<WitnessedState> = {}): WitnessedState => ({
    head: { firstId: 1, anchorHash: '', lastId, lastHash: `hash ${lastId}` },
    hashes: new Map(Array.from({ length: lastId }, (_, index) => [index + 1, `hash ${index + 1}`])),
    restoredAt: null,
    ...more,
  });

  it.each([
    ['the same head', [line(5)], state(5), 'confirms', null],
    ['nothing written yet', [], state(0), 'confirms', null],
    ['a late witness', [line(3)], state(5), 'behind', null],
    ['no witness of a log that is there', [], state(5), 'behind', null],
    ['rows cut off at the end', [line(3), line(6)], state(5), 'contradicts', { id: 6, reason: 'witness_ahead' }],
    [
      'a cut that was filled again',
      [{ ...line(4), hash: 'was another' }, line(5)],
      state(5),
      'contradicts',
      { id: 4, reason: 'witness_differs' },
    ],
    [
      'a row that is gone',
      [line(2)],
      { ...state(5), hashes: new Map() },
      'contradicts',
      { id: 2, reason: 'witness_differs' },
    ],
    ['a backup put back', [line(9)], state(5, { restoredAt: 60_000 }), 'restored', null],
    [
      'a cut after a backup was put back',
      [line(9), line(6, '2000-01-01T00:00:00Z')],
      state(5, { restoredAt: 60_000 }),
      'contradicts',
      { id: 6, reason: 'witness_ahead' },
    ],
  ] as const)('%s', (_what, lines, found, status, broken) => {
    expect(compareWitness(lines, found, null)).toMatchObject({ view: { status }, broken });
  });

  it('knows the last row that retention removed, and reports none before it', () => {
    const pruned = { ...state(9), head: { firstId: 5, anchorHash: 'hash 4', lastId: 9, lastHash: 'hash 9' } };
    expect(compareWitness([{ ...line(2), hash: 'x' }, line(4), line(9)], pruned, null).broken).toBeNull();
    expect(compareWitness([{ ...line(4), hash: 'x' }], pruned, null).broken).toEqual({
      id: 4,
      reason: 'witness_differs',
    });
  });

  it('reports why the witness is behind', () => {
    expect(compareWitness([line(1)], state(2), 'ENOSPC: no space left').view).toMatchObject({
      status: 'behind',
      detail: 'ENOSPC: no space left',
    });
  });
});
