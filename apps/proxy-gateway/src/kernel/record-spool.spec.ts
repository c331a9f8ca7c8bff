import { closeSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionRecord } from '@gatehouse/proxy-kernel';
import { createSecretBox } from '@gatehouse/persistence';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KernelEventQueue } from './kernel-event-queue.js';
import type { EventBatch } from '../common/kernel-ipc.js';
import { openSpoolFiles, type SpoolFiles } from '../common/spool-files.js';
import type { SpoolRange } from '../common/spool-range.js';
import { RecordSpool, type SpoolOptions } from './record-spool.js';
import { spoolSeal } from './separate/spool-seal.js';

const record = (id: string): ConnectionRecord => ({ id }) as ConnectionRecord;

let folder: string;
const open: number[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spool-'));
});
afterEach(() => {
  for (const fd of open.splice(0)) closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
});

function files(): SpoolFiles {
  const opened = openSpoolFiles(folder, 'records');
  open.push(...opened);
  return opened;
}

function spoolWith(options: Partial<SpoolOptions> = {}): { spool: RecordSpool; warnings: string[] } {
  const warnings: string[] = [];
  return { spool: new RecordSpool(files(), { warn: (message) => warnings.push(message), ...options }), warnings };
}

const sizes = (): number[] => ['a', 'b'].map((part) => statSync(join(folder, `records-${part}`)).size);
const idsIn = (spool: RecordSpool): string[] =>
  spool.read(spool.left).flatMap(({ closed }) => closed.map(({ id }) => id));
const only = (spool: string, number: number): SpoolRange => ({ spool, first: number, last: number });

describe('RecordSpool', () => {
  it('gives the next run each complete entry that was not stored, wherever the process was killed', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ store: fc.nat(30) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(200), fc.boolean(), (steps, cut, atRestart) => {
        rmSync(folder, { recursive: true, force: true });
        const { spool } = spoolWith({ switchBytes: 400 });
        const waiting = new Map<number, string[]>();
        let [last, before] = [0, sizes()];
        for (const now of steps) {
          if ('append' in now) {
            before = sizes();
            const ids = Array.from({ length: now.append }, (_, index) => `${last + 1}-${index}`);
            last = spool.append(ids.map(record), [])!;
            waiting.set(last, ids);
          } else if (waiting.has(now.store)) {
            spool.stored([only(spool.id, now.store)]);
            waiting.delete(now.store);
            before = sizes();
          }
        }
        // The end of the last line is missing, as after an interrupted write.
        const grown = sizes().findIndex((size, index) => size > before[index]!);
        if (grown >= 0 && atRestart) {
          const whole = sizes()[grown]!;
          const kept = Math.max(before[grown]!, whole - 1 - cut);
          truncateSync(join(folder, `records-${'ab'[grown]}`), kept);
          waiting.delete(last);
        }
        const next = spoolWith().spool;
        // This run does not know what is stored, so entries of a shared file are read again, with their numbers.
        const found = new Map(next.read(next.left).map(({ number, closed }) => [number, closed.map(({ id }) => id)]));
        for (const [number, ids] of waiting) expect(found.get(number)).toEqual(ids);
        next.stored(next.left.filter(({ spool: of }) => of !== spool.id));
        const stored = [...found.keys()].filter((number) => !waiting.has(number));
        next.stored(stored.map((number) => only(spool.id, number)));
        expect(idsIn(next)).toEqual([...waiting.keys()].sort((a, b) => a - b).flatMap((number) => waiting.get(number)));
        // Entries of this run are separate lines, even after a torn one.
        next.append([record('new')], []);
        const third = spoolWith().spool;
        expect(idsIn(third)).toContain('new');
        for (const fd of open.splice(0)) closeSync(fd);
      }),
      { numRuns: 60 },
    );
  });

  it('empties a file when everything in it is stored, and alternates between the two', () => {
    const { spool } = spoolWith({ switchBytes: 1_000 });
    let stored = 0;
    let largest = 0;
    for (let at = 1; at <= 2_000; at++) {
      const number = spool.append([record(`c${at}`)], [])!;
      largest = Math.max(largest, ...sizes());
      if (at % 7 === 0) {
        spool.stored([{ spool: spool.id, first: stored + 1, last: number - 3 }]);
        stored = number - 3;
      }
    }
    expect(largest).toBeLessThan(3_000);
    spool.stored([{ spool: spool.id, first: 1, last: 2_000 }]);
    expect(sizes()).toEqual([0, 0]);
  });

  it('warns once that there is no room, and continues when there is', () => {
    const { spool, warnings } = spoolWith({ limitBytes: 500 });
    const numbers = Array.from({ length: 10 }, (_, index) => spool.append([record(`c${index}`)], []));
    expect(numbers.filter((number) => number === null).length).toBeGreaterThan(3);
    expect(warnings).toEqual(['Records cannot be kept on disk until they are stored: 500 bytes wait to be stored']);
    const kept = numbers.filter((number) => number !== null);
    spool.stored([{ spool: spool.id, first: 1, last: kept.length }]);
    expect(spool.append([record('again')], [])).toBe(kept.length + 1);
    expect(warnings[1]).toMatch(/kept on disk again, after \d+ times without/);
  });

  it('continues without a file that cannot be written', () => {
    const [a, b] = files();
    const { spool, warnings } = {
      spool: new RecordSpool([a, b], { warn: (text) => warnings.push(text) }),
      warnings: [] as string[],
    };
    for (const fd of open.splice(0)) closeSync(fd);
    expect(spool.append([record('a')], [])).toBeNull();
    spool.stored([only(spool.id, 1)]);
    expect(warnings).toHaveLength(1);
  });

  it('skips lines that cannot be parsed', () => {
    const { spool } = spoolWith();
    spool.append([record('a')], []);
    const file = join(folder, 'records-a');
    writeFileSync(file, `not JSON\n{"spool":7}\n${readFileSync(file, 'utf8')}null\n\n`);
    expect(idsIn(spoolWith().spool)).toEqual(['a']);
  });

  it('is readable by its user only, and sealed', () => {
    const seal = spoolSeal(createSecretBox([Buffer.alloc(32, 1)]));
    spoolWith(seal).spool.append([record('secret.example')], []);
    expect(statSync(join(folder, 'records-a')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'records-a'), 'utf8')).not.toContain('secret');
    expect(idsIn(spoolWith(spoolSeal(createSecretBox([Buffer.alloc(32, 1)]))).spool)).toEqual(['secret.example']);
    expect(spoolWith(spoolSeal(createSecretBox([Buffer.alloc(32, 2)]))).spool.left).toEqual([]);
  });
});

describe('KernelEventQueue with a spool', () => {
  const queueWith = (spool: RecordSpool): { queue: KernelEventQueue; sent: EventBatch[] } => {
    const sent: EventBatch[] = [];
    const queue = new KernelEventQueue((batch) => Promise.resolve(void sent.push(batch)), 60_000, spool);
    return { queue, sent };
  };

  it('has a record on disk at the end of the event loop turn in which the flow ended', async () => {
    const { queue } = queueWith(spoolWith().spool);
    queue.closed(record('a'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(idsIn(spoolWith().spool)).toEqual(['a']);
  });

  it('sends the entries of an earlier run, with their numbers, once it is known what is stored', async () => {
    const former = spoolWith().spool;
    for (const id of ['a', 'b', 'c']) former.append([record(id)], []);
    const { queue, sent } = queueWith(spoolWith().spool);
    queue.closed(record('live'));
    await queue.flush();
    expect(sent.map(({ closed }) => closed.map(({ id }) => id))).toEqual([['live']]);
    expect(queue.leftSpools).toEqual([former.id]);
    queue.resume([only(former.id, 2)]);
    await queue.flush();
    expect(sent.slice(1).map(({ closed, source }) => [closed.map(({ id }) => id), source])).toEqual([
      [['a'], only(former.id, 1)],
      [['c'], only(former.id, 3)],
    ]);
    expect(queue.leftSpools).toEqual([]);
    queue.stored(sent.flatMap(({ source }) => source ?? []));
    expect(sizes()).toEqual([0, 0]);
  });

  it('repeats what a service that is gone had received, and sends nothing twice', async () => {
    const { queue, sent } = queueWith(spoolWith().spool);
    for (const id of ['a', 'b', 'c']) {
      queue.closed(record(id));
      queue.keep();
    }
    await queue.flush();
    const { source } = sent[0]!;
    queue.stored([only(source!.spool, 2)]);
    queue.lost([source!]);
    queue.resume([]);
    queue.resume([]);
    await queue.flush();
    expect(sent.slice(1).flatMap(({ closed }) => closed.map(({ id }) => id))).toEqual(['a', 'c']);
  });
});
