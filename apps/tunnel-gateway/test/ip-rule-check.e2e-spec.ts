import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askFrom, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let ada: { call: Caller; id: number };
let client: AnyJson;
let tunnel: AnyJson;
beforeAll(async () => {
  world = await TunnelWorld.start();
  ada = await world.user('ada');
  client = await world.client({}, ada.call);
  await world.online(client.key);
  tunnel = await world.tunnel(client.id, await world.echo());
});
afterAll(() => world.close());

const check = async (call: Caller, ip: string, query = `&resource_type=tunnel&resource_id=${tunnel.id}`) =>
  call('GET', `/ip-rules/check?ip=${ip}${query}`);

describe('the check of an address', () => {
  it('shows the result for a connection level by level', async () => {
    const rules = [
      { scope: 'global', type: 'deny', pattern: '127.0.0.2' },
      { scope: 'user', resource_id: ada.id, type: 'deny', pattern: '127.0.0.3' },
      { scope: 'client', resource_id: client.id, type: 'deny', pattern: '127.0.0.4-127.0.0.5', pattern_kind: 'range' },
      { scope: 'client', resource_id: client.id, type: 'allow', pattern: '127.0.0.5', priority: -1 },
      {
        scope: 'client',
        resource_id: client.id,
        type: 'allow',
        pattern: '127.0.0.0/29',
        pattern_kind: 'cidr',
        priority: 1,
      },
      {
        scope: 'tunnel',
        resource_id: tunnel.id,
        type: 'allow',
        pattern: '127.0.0.*',
        pattern_kind: 'wildcard',
        priority: 5,
      },
      { scope: 'tunnel', resource_id: tunnel.id, type: 'deny', pattern: '127.0.0.6' },
    ];
    for (const rule of rules) expect((await world.admin('POST', '/ip-rules', rule)).status).toBe(201);
    // The last of them is in force.
    await waitFor(async () => (await askFrom('127.0.0.6', tunnel.listen_port, 'hello')) !== 'hello');
    const addresses = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((last) => `127.0.0.${last}`);
    const said: boolean[] = [];
    const seen: boolean[] = [];
    for (const address of addresses) {
      said.push((await check(ada.call, address)).body.allowed);
      seen.push((await askFrom(address, tunnel.listen_port, 'hello')) === 'hello');
    }
    expect(said).toEqual(seen);
    expect(seen).toEqual([true, false, false, false, true, false, true, false, false]);
  });

  it('names the rule of each level, and the first that refuses', async () => {
    const outcomes = async (ip: string, call = world.admin) =>
      (await check(call, ip)).body.levels.map(({ scope, outcome, rule }: AnyJson) => [
        scope,
        outcome,
        rule?.pattern ?? null,
      ]);
    expect(await outcomes('127.0.0.4')).toEqual([
      ['global', 'no_match', null],
      ['user', 'no_match', null],
      ['client', 'denied', '127.0.0.4-127.0.0.5'],
      ['tunnel', 'not_reached', null],
    ]);
    expect((await outcomes('127.0.0.9'))[2]).toEqual(['client', 'not_listed', null]);
    expect((await outcomes('::ffff:127.0.0.2'))[0]).toEqual(['global', 'denied', '127.0.0.2']);
    expect((await outcomes('127.0.0.2', ada.call))[0]).toEqual(['global', 'denied', null]);
    expect((await check(world.admin, '::ffff:127.0.0.2')).body.ip).toBe('127.0.0.2');
    expect((await check(world.admin, '8.8.8.8', '')).body).toMatchObject({
      country: 'US',
      levels: [{ scope: 'global' }],
    });
  });

  it('accepts only own resources', async () => {
    const eve = await world.user('eve');
    const status = async (call: Caller, query: string) => (await check(call, '192.0.2.1', query)).status;
    for (const [kind, id] of [
      ['tunnel', tunnel.id],
      ['client', client.id],
      ['user', ada.id],
      ['host', 1],
    ]) {
      expect(await status(eve.call, `&resource_type=${kind}&resource_id=${id}`)).toBe(404);
    }
    expect(await status(eve.call, '&resource_type=console')).toBe(404);
    expect(await status(eve.call, '')).toBe(200);
    expect(await status(world.admin, '&resource_type=console')).toBe(200);
    expect(await status(world.admin, '&resource_type=agent')).toBe(422);
    expect((await check(world.admin, 'localhost')).status).toBe(422);
  });
});

describe('without a country database', () => {
  it('country rules cause a warning, the check reports it, and the gateway is not ready', async () => {
    await using without = await TunnelWorld.start({ GEOIP_FILE: join('/nonexistent', 'countries.mmdb') });
    const ready = async () => (await fetch(`${without.gateway.url}/readyz`)).json() as AnyJson;
    expect((await ready()).failing).toEqual([]);
    const plain = await without.admin('POST', '/ip-rules', { scope: 'global', type: 'deny', pattern: '192.0.2.1' });
    expect(plain.body.warning).toBeNull();
    const rule = { scope: 'global', type: 'deny', pattern: 'US', pattern_kind: 'country' };
    const { status, body } = await without.admin('POST', '/ip-rules', rule);
    expect([status, body.warning]).toEqual([201, expect.stringContaining('match nothing')]);
    const { body: explained } = await without.admin('GET', '/ip-rules/check?ip=8.8.8.8');
    expect(explained).toMatchObject({ allowed: true, country: null, levels: [{ unresolved: true }] });
    await waitFor(async () => (await ready()).failing?.includes('countries'));
    await without.admin('DELETE', `/ip-rules/${body.id}`);
    await waitFor(async () => (await ready()).failing?.length === 0);
  });

  it('a file that cannot be read is reported, whatever it contains', async () => {
    const file = join(world.gateway.home, 'broken.mmdb');
    writeFileSync(file, 'no database');
    await using broken = await TunnelWorld.start({ GEOIP_FILE: file, GEOIP_STRICT: 'true' });
    const rule = { scope: 'global', type: 'deny', pattern: 'US', pattern_kind: 'country' };
    expect((await broken.admin('POST', '/ip-rules', rule)).body.warning).toContain('denies everybody');
    expect((await broken.admin('GET', '/ip-rules/check?ip=8.8.8.8')).body.allowed).toBe(false);
  });
});
