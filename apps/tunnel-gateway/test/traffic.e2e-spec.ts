import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let ada: { call: Caller; id: number };
let eve: { call: Caller; id: number };
let own: AnyJson;
let foreign: AnyJson;
beforeAll(async () => {
  world = await TunnelWorld.start({ WORKERS: 'separate' });
  ada = await world.user('ada');
  eve = await world.user('eve');
  own = await world.client({}, ada.call);
  foreign = await world.client({}, eve.call);
  await world.rows(
    `INSERT INTO tunnel_gateway.flow_stats (resource_type, resource_id, inlet_bytes)
     VALUES ('global', 0, 30), ('user', ${ada.id}, 10), ('user', ${eve.id}, 20), ('client', ${own.id}, 10),
       ('client', ${foreign.id}, 20)`,
  );
  await world.rows(
    `INSERT INTO tunnel_gateway.request_ips (resource_type, resource_id, ip, hit_count, last_seen_at)
     SELECT 'client', id, '192.0.2.' || n, n / 2, to_timestamp(1000.5 - n)
     FROM generate_series(1, 9) n, unnest(ARRAY[${own.id}, ${foreign.id}]) AS id`,
  );
  await world.rows(
    `INSERT INTO tunnel_gateway_ops.flow_minutes VALUES
       ('client', ${own.id}, '2026-05-01T00:01:00Z', 1, 2, 3), ('client', ${own.id}, '2026-05-01T00:03:00Z', 4, 5, 6)`,
  );
});
afterAll(() => world.close());

/** All pages, three rows each. */
async function all(call: Caller, path: string): Promise<AnyJson[]> {
  const rows: AnyJson[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await call('GET', `${path}&limit=3${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    rows.push(...body.items);
    if (body.next_cursor === null) return rows;
    cursor = body.next_cursor;
  }
}

describe('totals', () => {
  it('are shown to their owner', async () => {
    const places = (rows: AnyJson[]) => rows.map((row) => `${row.resource_type} ${row.resource_id}`);
    expect(places(await all(ada.call, '/flow-stats?'))).toEqual([`user ${ada.id}`, `client ${own.id}`]);
    expect(await all(world.admin, '/flow-stats?')).toHaveLength(5);
    expect(await all(ada.call, `/flow-stats?resource_type=client&resource_id=${foreign.id}`)).toEqual([]);
    expect(await all(world.admin, '/flow-stats?resource_type=global')).toMatchObject([{ inlet_bytes: 30 }]);
    expect((await ada.call('GET', '/flow-stats?resource_type=agent')).status).toBe(422);
  });

  it('are listed over time without gaps', async () => {
    const { body } = await ada.call(
      'GET',
      `/flow-stats/series?resource_type=client&resource_id=${own.id}&bucket=minute&from=2026-05-01T00:00:30Z&to=2026-05-01T00:05:00Z`,
    );
    const none = { inlet_bytes: 0, export_bytes: 0, connections: 0 };
    expect(body.points).toEqual([
      { at: '2026-05-01T00:00:00.000Z', ...none },
      { at: '2026-05-01T00:01:00.000Z', inlet_bytes: 1, export_bytes: 2, connections: 3 },
      { at: '2026-05-01T00:02:00.000Z', ...none },
      { at: '2026-05-01T00:03:00.000Z', inlet_bytes: 4, export_bytes: 5, connections: 6 },
      { at: '2026-05-01T00:04:00.000Z', ...none },
    ]);
    for (const [bucket, points] of [
      ['minute', 1440],
      ['hour', 720],
      ['day', 365],
    ] as const) {
      const path = `/flow-stats/series?resource_type=client&resource_id=${own.id}&bucket=${bucket}`;
      const { length } = (await ada.call('GET', path)).body.points;
      expect([points, points + 1]).toContain(length);
    }
  });

  it.each(['from=2026-05-01T00:00:00Z&to=2026-05-01T00:00:00Z', 'from=2020-05-01T00:00:00Z', 'from=2026-05-01'])(
    'refuse %s',
    async (range) => {
      const path = `/flow-stats/series?resource_type=client&resource_id=${own.id}&bucket=minute&${range}`;
      expect((await ada.call('GET', path)).status).toBe(422);
    },
  );

  it('of other users are not visible', async () => {
    const status = async (call: Caller, kind: string, id: number) =>
      (await call('GET', `/flow-stats/series?resource_type=${kind}&resource_id=${id}&bucket=day`)).status;
    expect(await status(ada.call, 'client', foreign.id)).toBe(404);
    expect(await status(ada.call, 'user', eve.id)).toBe(404);
    expect(await status(ada.call, 'global', 0)).toBe(404);
    expect(await status(ada.call, 'tunnel', 1)).toBe(404);
    expect(await status(ada.call, 'user', ada.id)).toBe(200);
    expect(await status(world.admin, 'global', 0)).toBe(200);
    expect(await status(world.admin, 'user', eve.id)).toBe(200);
    expect(await status(world.admin, 'global', 1)).toBe(404);
  });
});

describe('addresses of visitors', () => {
  it('are sorted and paged as requested, and limited to own rows', async () => {
    const numbers = async (sort: string) =>
      (await all(ada.call, `/request-ips?sort=${sort}`)).map(({ ip }) => Number(ip.split('.')[3]));
    expect(await numbers('id')).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(await numbers('-last_seen')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const hits = (await all(ada.call, '/request-ips?sort=-hits')).map(({ hit_count }) => hit_count);
    expect(hits).toEqual([4, 4, 3, 3, 2, 2, 1, 1, 0]);
    expect(await all(world.admin, '/request-ips?ip=192.0.2.3')).toHaveLength(2);
    expect(await all(ada.call, `/request-ips?resource_type=client&resource_id=${foreign.id}`)).toEqual([]);
  });

  it('refuse invalid cursors', async () => {
    expect((await ada.call('GET', '/request-ips?sort=-hits&cursor=abc')).status).toBe(422);
  });
});
