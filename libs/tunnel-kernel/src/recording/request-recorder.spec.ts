import { describe, expect, it } from 'vitest';
import { RequestRecorder, type RecorderLimits } from './request-recorder.js';
import type { RecordStart, RequestRecord } from './request-record.js';

const LIMITS: RecorderLimits = { requests: 3, bytes: 100_000, total: 250_000, ageMs: 1_000 };
let clock = 1_000_000;

function recorder(limits: Partial<RecorderLimits> = {}): RequestRecorder {
  return new RequestRecorder(() => clock, { ...LIMITS, ...limits });
}

function begin(at: RequestRecorder, more: Partial<RecordStart> = {}): RequestRecord {
  return at.begin({
    hostId: 1,
    level: 'requests',
    startedAt: clock,
    method: 'GET',
    scheme: 'http',
    authority: 'a.test',
    target: '/',
    version: '1.1',
    visitor: '192.0.2.1',
    fields: [],
    headBytes: 10,
    replayOf: null,
    ...more,
  });
}

function targets(at: RequestRecorder, hostId = 1): string[] {
  return at.list(hostId, {}, 100).items.map(({ target }) => target);
}

describe('what is kept', () => {
  it('is the last requests of each host, newest first, until they are too old', () => {
    const at = recorder();
    for (const target of ['/1', '/2', '/3', '/4']) begin(at, { target });
    begin(at, { hostId: 2, target: '/other' });
    expect(targets(at)).toEqual(['/4', '/3', '/2']);
    expect(targets(at, 2)).toEqual(['/other']);
    clock += 1_001;
    begin(at, { target: '/5' });
    expect(targets(at)).toEqual(['/5']);
    expect(targets(at, 2)).toEqual([]);
  });

  it('uses records again when their requests are over, and never one that is still running', () => {
    const at = recorder({ requests: 1 });
    const running = begin(at, { target: '/running' });
    const next = begin(at, { target: '/next' });
    expect(next).not.toBe(running);
    next.end({ upload: 0, download: 0 }, 'client_error');
    const last = begin(at, { target: '/last' });
    expect(last).toBe(next);
    running.answers(500, [], 0, 'late');
    running.end({ upload: 0, download: 0 }, null);
    expect(at.list(1, {}, 10).items).toMatchObject([{ target: '/last', status: null, failure: null, endedMs: null }]);
  });

  it('is bounded in bytes for a host, and a host that has little keeps it when another has too much', () => {
    const at = recorder({ requests: 1_000, bytes: 200_000 });
    begin(at, { hostId: 2, target: '/small' });
    for (let count = 0; count < 20; count++) {
      const record = begin(at, { level: 'full', hostId: 1 + 2 * (count % 2), target: `/${count}` });
      record.answers(200, [], 0, null);
      record.answerPart(Buffer.alloc(60_000));
      record.end({ upload: 0, download: 0 }, null);
    }
    expect(targets(at, 2)).toEqual(['/small']);
    const kept = targets(at, 1).length + targets(at, 3).length;
    expect(kept).toBeGreaterThan(1);
    expect(kept).toBeLessThan(5);
    expect(targets(at, 3)[0]).toBe('/19');
  });

  it('is forgotten when recording ends or its level changes', () => {
    const at = recorder();
    begin(at);
    begin(at, { hostId: 2 });
    at.apply([
      { id: 1, record: 'requests' },
      { id: 2, record: 'full' },
    ]);
    expect(targets(at, 1)).toHaveLength(1);
    expect(targets(at, 2)).toHaveLength(0);
    at.apply([{ id: 1 }]);
    expect(targets(at, 1)).toHaveLength(0);
  });

  it('has ids in the order of time, also when the clock jumps back', () => {
    const at = recorder();
    begin(at, { target: '/1' });
    clock -= 500;
    begin(at, { target: '/2' });
    const ids = at.list(1, {}, 10).items.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(ids.every((id) => /^[0-9a-f]{28}$/.test(id))).toBe(true);
    expect(at.list(1, { before: ids[0] }, 10).items.map(({ target }) => target)).toEqual(['/1']);
    expect(at.list(1, { id: ids[0] }, 10).items).toMatchObject([{ target: '/2' }]);
    expect(at.list(2, { id: ids[0] }, 10).items).toEqual([]);
  });
});

describe('a list', () => {
  it('is narrowed by method, status, a part of the path and visitor', () => {
    const at = recorder({ requests: 10 });
    begin(at, { target: '/a', method: 'POST' }).answers(404, [], 0, null);
    begin(at, { target: '/b', visitor: '192.0.2.9' }).answers(502, [], 0, 'target_refused');
    begin(at, { target: '/c' }).end({ upload: 0, download: 0 }, 'client_error');
    const found = (filter: object): string[] => at.list(1, filter, 10).items.map(({ target }) => target);
    expect(found({ method: 'POST' })).toEqual(['/a']);
    expect(found({ status: '404' })).toEqual(['/a']);
    expect(found({ status: '5xx' })).toEqual(['/b']);
    expect(found({ status: 'failed' })).toEqual(['/c', '/b']);
    expect(found({ text: 'B' })).toEqual(['/b']);
    expect(found({ visitor: '192.0.2.9' })).toEqual(['/b']);
  });

  it('of details ends at a number of bytes, but has at least one', () => {
    const at = recorder();
    for (const target of ['/1', '/2', '/3']) begin(at, { target, level: 'full' });
    expect(at.list(1, {}, 10, 1)).toMatchObject({ items: [{ target: '/3' }], isCut: true });
    expect(at.list(1, {}, 2, 1_000_000)).toMatchObject({ items: [{ target: '/3' }, { target: '/2' }], isCut: false });
  });
});
