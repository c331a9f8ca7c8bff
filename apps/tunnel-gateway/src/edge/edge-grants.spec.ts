import type { GrantKey, VisitorGrant } from '@gatehouse/tunnel-kernel';
import { describe, expect, it } from 'vitest';
import type { Queries } from '../common/edge-database.js';
import { EdgeGrants } from './edge-grants.js';

interface Statement {
  kind: 'read' | 'write' | 'remove';
  /** What is written or removed. */
  rows: GrantKey[];
  answer(rows?: readonly VisitorGrant[]): void;
  fail(error?: Error): void;
}

const AWAY = new Error('away');

/** Grants whose database answers when the test wants it to. */
function rig(): { grants: EdgeGrants; asked: Statement[]; refused: number[] } {
  const asked: Statement[] = [];
  const query = (text: string, values: unknown[] = []): Promise<never> => {
    const { promise, resolve, reject } = Promise.withResolvers<never>();
    asked.push({
      kind: text.includes('INSERT') ? 'write' : text.includes('DELETE') ? 'remove' : 'read',
      rows: values.length === 0 ? [] : (JSON.parse(String(values[0])) as GrantKey[]),
      answer: (rows = []) => resolve({ rows, rowCount: rows.length } as never),
      fail: (error = AWAY) => reject(error),
    });
    return promise;
  };
  const refused: number[] = [];
  const grants = new EdgeGrants(
    { query } as Queries,
    () => 1_000,
    (changes) => refused.push(...changes.map(({ tunnelId }) => tunnelId)),
  );
  return { grants, asked, refused };
}

const grant = (tunnelId: number): VisitorGrant => ({
  tunnelId,
  policyId: 1,
  address: '192.0.2.1',
  policyVersion: 1,
  until: 2_000,
  once: false,
});
const news = (tunnelId: number): string => JSON.stringify([{ ...grant(tunnelId), ended: false }]);
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const tunnels = ({ store }: EdgeGrants): number[] =>
  store
    .list()
    .map(({ tunnelId }) => tunnelId)
    .toSorted((a, b) => a - b);

describe('grants at the end of an edge', () => {
  it('are all written, also those that arrive during a write', async () => {
    const { grants, asked } = rig();
    grants.store.put(grant(1));
    const first = grants.write();
    await settled();
    grants.store.put(grant(2));
    const last = grants.writeLast();
    asked[0]?.answer();
    await settled();
    expect(asked.map(({ rows }) => rows.map(({ tunnelId }) => tunnelId))).toEqual([[1], [2]]);
    asked[1]?.answer();
    await Promise.all([first, last]);
  });

  it('are written even if the database refuses some of them', async () => {
    const { grants, asked, refused } = rig();
    for (const id of [1, 2, 3]) grants.store.put(grant(id));
    const written = grants.write();
    const answered: number[][] = [];
    const refusal = Object.assign(new Error('value too long'), { severity: 'ERROR', code: '22001' });
    for (let next = 0; refused.length + answered.flat().length < 3; next += 1) {
      await settled();
      const statement = asked[next];
      const ids = statement?.rows.map(({ tunnelId }) => tunnelId) ?? [];
      if (ids.includes(2)) statement?.fail(refusal);
      else answered.push(ids);
      if (!ids.includes(2)) statement?.answer();
    }
    await written;
    expect(refused).toEqual([2]);
    expect(answered.flat()).toEqual([1, 3]);
  });

  it('are retried once if the previous write failed', async () => {
    const { grants, asked } = rig();
    grants.store.put(grant(1));
    const first = grants.write();
    await settled();
    const last = grants.writeLast();
    asked[0]?.fail();
    await expect(first).rejects.toThrow('away');
    await settled();
    expect(asked[1]).toMatchObject({ kind: 'write', rows: [{ tunnelId: 1 }] });
    asked[1]?.answer();
    await last;
  });
});

describe('notifications of grants', () => {
  it('that arrive while the table is read win over what is read', async () => {
    const { grants, asked } = rig();
    const reading = grants.read();
    await grants.receive(news(2));
    asked[0]?.answer([grant(1)]);
    await reading;
    expect(tunnels(grants)).toEqual([1, 2]);
  });

  it('that arrive while the table cannot be read are applied', async () => {
    const { grants, asked } = rig();
    const reading = grants.read();
    await grants.receive(news(2));
    asked[0]?.fail();
    await expect(reading).rejects.toThrow('away');
    expect(tunnels(grants)).toEqual([2]);
  });

  it('that were missed are read with the next write, until one succeeds', async () => {
    const { grants, asked } = rig();
    const missed = grants.receive(null);
    asked[0]?.fail();
    await expect(missed).rejects.toThrow('away');
    const first = grants.write();
    await settled();
    expect(asked.map(({ kind }) => kind)).toEqual(['read', 'read']);
    asked[1]?.fail();
    await expect(first).rejects.toThrow('away');
    const second = grants.write();
    await settled();
    asked[2]?.answer([grant(3)]);
    await second;
    expect(tunnels(grants)).toEqual([3]);
    await grants.write();
    expect(asked).toHaveLength(3);
  });
});
