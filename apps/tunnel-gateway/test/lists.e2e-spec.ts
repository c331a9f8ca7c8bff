import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
beforeAll(async () => {
  world = await TunnelWorld.start({ WORKERS: 'separate' });
  const names = ['beta', 'Alpha', 'gamma', 'alpha', '50 % off', 'under_score', 'Ω'];
  await world.rows(
    `INSERT INTO tunnel_gateway.clients (name, verify_key, owner_user_id, inlet_flow, created_at)
     SELECT name, 'key ' || n, 1, n % 3, now() - n * interval '1 microsecond'
     FROM unnest($1::text[]) WITH ORDINALITY AS t (name, n)`,
    [names],
  );
});
afterAll(() => world.close());

/** All pages, two rows each. */
async function all(path: string): Promise<AnyJson[]> {
  const rows: AnyJson[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await world.admin('GET', `${path}&limit=2${cursor && `&cursor=${cursor}`}`);
    expect(status, JSON.stringify(body)).toBe(200);
    rows.push(...body.items);
    if (body.next_cursor === null) return rows;
    cursor = body.next_cursor;
  }
}

const names = async (query: string): Promise<string[]> => (await all(`/clients?${query}`)).map(({ name }) => name);

describe('lists', () => {
  it('are sorted in both directions, with each row once', async () => {
    const forward = await names('sort=name');
    expect(forward.filter((name) => /^[a-z]+$/i.test(name))).toEqual(['Alpha', 'alpha', 'beta', 'gamma']);
    expect(forward).toHaveLength(7);
    expect(await names('sort=-name')).toEqual(forward.toReversed());
    const flows = (await all('/clients?sort=-inlet_flow')).map(({ inlet_flow }) => inlet_flow);
    expect(flows).toEqual([2, 2, 1, 1, 1, 0, 0]);
    expect(await names('sort=created_at')).toEqual((await names('sort=-id')).slice());
    expect(await names('sort=-id')).toEqual((await names('')).toReversed());
  });

  it('continue at the right row when others are added or removed', async () => {
    const first = (await world.admin('GET', '/clients?sort=name&limit=3')).body;
    await world.rows(`DELETE FROM tunnel_gateway.clients WHERE id = ${first.items[2].id}`);
    await world.client({ name: 'aaa' });
    const rest = (await world.admin('GET', `/clients?sort=name&cursor=${first.next_cursor}`)).body.items;
    const seen = [...first.items, ...rest].map(({ name }: AnyJson) => name);
    expect(seen).not.toContain('aaa');
    expect(new Set(seen).size).toBe(7);
  });

  it('are searched case-insensitively and literally', async () => {
    expect(await names('q=ALP')).toEqual(['Alpha']);
    expect(await names(`q=${encodeURIComponent('%')}`)).toEqual(['50 % off']);
    expect(await names('q=_')).toEqual(['under_score']);
    expect(await names(`q=${encodeURIComponent('\\')}`)).toEqual([]);
  });

  it('of every kind accept their filters, sorts and searches', async () => {
    const { id } = await world.client({ name: 'owner' });
    const tunnel = { client_id: id, mode: 'tcp', target_addr: 'db.internal:5432', name: 'postgres' };
    const { listen_port } = (await world.admin('POST', '/tunnels', tunnel)).body;
    await world.admin('POST', '/hosts', { client_id: id, host: 'shop.example', target_addr: 'http://web:80' });
    await world.admin('POST', '/ip-rules', {
      scope: 'global',
      type: 'deny',
      pattern: '198.51.100.0/24',
      pattern_kind: 'cidr',
    });
    for (const path of [
      '/tunnels?q=db.int&sort=-listen_port',
      `/tunnels?q=${listen_port}&sort=name`,
      `/tunnels?listen_port=${listen_port}&sort=run_status`,
      '/hosts?q=SHOP&sort=-host',
      '/hosts?q=web&sort=location',
      '/ip-rules?q=198.51&sort=-priority',
      '/ip-rules?pattern_kind=cidr&sort=pattern',
    ]) {
      expect(await all(path), path).toHaveLength(1);
    }
    expect(await all('/tunnels?q=nothing')).toEqual([]);
    expect(await all('/flow-stats?sort=-inlet_bytes')).toEqual([]);
  });

  it.each([
    'sort=verify_key',
    'sort=--name',
    'sort=name,id',
    'sort=',
    'sort=constructor',
    'q=',
    'limit=201',
    'cursor=abc',
    `cursor=${Buffer.from('["name","a",1]').toString('base64url')}`,
    `sort=inlet_flow&cursor=${Buffer.from('["inlet_flow","1; --",1]').toString('base64url')}`,
    `sort=name&cursor=${Buffer.from(JSON.stringify(['name', '\0', 1])).toString('base64url')}`,
    `sort=name&cursor=${Buffer.from('["name","a",1e300]').toString('base64url')}`,
  ])('refuse %s', async (query) => {
    const { status, body } = await world.admin('GET', `/clients?${query}`);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
  });
});
