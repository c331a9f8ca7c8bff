import { describe, expect, it } from 'vitest';
import type { Queries } from '../common/edge-database.js';
import { EdgeEvents } from './edge-events.js';

const quiet = { info: () => undefined, warn: () => undefined };

interface Rig {
  events: EdgeEvents;
  /** What the database was given, as rows. */
  written: { type: string; message: string; data: Record<string, unknown>; changes: boolean; created_at: string }[];
  problems: string[];
  clock: { now: number; answers: boolean; statements: number };
}

function rig(): Rig {
  const clock = { now: Date.parse('2026-05-01T00:00:00Z'), answers: true, statements: 0 };
  const written: Rig['written'] = [];
  const problems: string[] = [];
  const query = (_text: string, values: unknown[] = []): Promise<never> => {
    clock.statements += 1;
    if (!clock.answers) return Promise.reject(new Error('away'));
    written.push(...(JSON.parse(String(values[0])) as Rig['written']));
    return Promise.resolve({ rows: [], rowCount: 0 } as never);
  };
  const events = new EdgeEvents({
    queries: { query } as Queries,
    now: () => clock.now,
    ownerOf: () => 7,
    whereabouts: { isOnline: () => false, isElsewhere: () => false, knowsAll: () => true },
    onProblem: (message, fields) => problems.push(`${message} ${JSON.stringify(fields)}`),
    onRefused: (events) => problems.push(`refused ${events.length}`),
  });
  return { events, written, problems, clock };
}

const denied = {
  resource: { kind: 'tunnel', id: 3 },
  clientId: 1,
  reason: 'address_denied',
  address: '192.0.2.1',
  rule: null,
  count: 1,
} as const;

describe('events of the edge', () => {
  it('wait for the database with their original time, up to a limit', async () => {
    const { events, written, problems, clock } = rig();
    const listener = events.listener(quiet, () => undefined);
    clock.answers = false;
    for (let i = 0; i < 6_000; i++) listener.agentOffline?.(i, { code: 'closed' } as never);
    await expect(events.write()).rejects.toThrow('away');
    clock.now += 60_000;
    clock.answers = true;
    await events.write();
    expect(written).toHaveLength(5_000);
    expect(written[0]?.created_at).toBe('2026-05-01T00:00:00.000Z');
    expect(problems).toEqual(['events were too many {"dropped":1000}']);
    expect(clock.statements).toBe(11);
  });

  it('describe one visitor and several visitors in words', async () => {
    const { events, written, clock } = rig();
    const listener = events.listener(quiet, () => undefined);
    const { resource, clientId, address } = denied;
    const failed = { resource, clientId, address, policyId: 5 };
    listener.denied?.(denied);
    listener.visitorFailed?.({ ...failed, count: 1 });
    listener.denied?.({ ...denied, count: 2 });
    listener.visitorFailed?.({ ...failed, count: 3 });
    clock.now += 60_000;
    await events.write();
    expect(written.map(({ message }) => message)).toEqual([
      'A visitor was refused: address denied',
      'A visitor did not prove who they are',
      '2 visitors were refused: address denied',
      '3 visitors did not prove who they are',
    ]);
  });

  it('are two a minute for a million refused visitors', async () => {
    const { events, written, clock } = rig();
    const listener = events.listener(quiet, () => undefined);
    for (let i = 0; i < 1_000_000; i++) listener.denied?.(denied);
    clock.now += 60_000;
    await events.write();
    expect(written.map(({ data }) => data['count'])).toEqual([1, 999_999]);
    expect(written[1]?.message).toBe('999999 visitors were refused: address denied');
  });

  it('report no visitors of clients that are not served, and none after another edge took over', async () => {
    const { events, written } = rig();
    const listener = events.listener(quiet, () => undefined);
    listener.denied?.({ ...denied, reason: 'client_disabled' });
    listener.denied?.({ ...denied, reason: 'client_expired' });
    events.silence();
    listener.agentOffline?.(1, { code: 'closed' } as never);
    await events.write();
    expect(written).toEqual([]);
  });

  it('report the count of the last minute once before another edge takes over', async () => {
    const { events, written, clock } = rig();
    const listener = events.listener(quiet, () => undefined);
    for (let i = 0; i < 5; i++) listener.denied?.(denied);
    events.silence();
    listener.denied?.(denied);
    events.silence();
    clock.now += 60_000;
    await events.write();
    expect(written.map(({ data }) => data['count'])).toEqual([1, 4]);
  });

  it('check the table only for the first event about the place of a client', async () => {
    const { events, written } = rig();
    const listener = events.listener(quiet, () => undefined);
    listener.agentOnline?.({ clientId: 1, address: '', software: '' } as never);
    listener.agentOffline?.(1, { code: 'closed' } as never);
    listener.agentOnline?.({ clientId: 2, address: '', software: '' } as never);
    await events.write();
    expect(written.map(({ changes }) => changes)).toEqual([true, false, true]);
  });
});
