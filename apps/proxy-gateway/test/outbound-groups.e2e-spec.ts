import type { NodeView, OutboundGroupView, OutboundOverview } from '@gatehouse/contracts';
import { notify } from '@gatehouse/persistence';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import type { HttpOrigin } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DataSource } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL, ONLY_SELECTIONS } from '../src/kernel-config-channel.js';
import { GroupSwitches } from '../src/data/group-switches.js';
import { GroupTestTargets } from '../src/outbound/group-test-targets.js';
import { GroupTestTargetsModule } from '../src/outbound/group-test-targets.module.js';
import { Preferences } from '../src/preferences/preferences.service.js';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { getThrough } from './support/proxy-client.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let origin: HttpOrigin;
let [tokyo, paris, osaka]: UpstreamProxy[] = [];
const ids: Record<string, number> = {};

beforeAll(async () => {
  gateway = await startGateway();
  origin = await startHttpOrigin();
  [tokyo, paris, osaka] = [await startUpstreamProxy(), await startUpstreamProxy(), await startUpstreamProxy()];
  await addNode('JP Tokyo 1', tokyo);
  await addNode('FR Paris', paris);
  await addNode('JP 大阪 2', osaka);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [origin, tokyo!, paris!, osaka!]) await server[Symbol.asyncDispose]();
});
afterEach(async () => {
  await gateway.call('PUT', '/outbound/default-policy', { policy: 'PROXY' });
  for (const { id } of (await gateway.call('GET', '/rules')).body.items) await gateway.call('DELETE', `/rules/${id}`);
  const groups = (await overview()).groups.filter(({ name }) => !OURS.has(name));
  for (const { name } of groups) await gateway.call('PATCH', path(name), { members: ['DIRECT'] });
  for (const { name } of groups) expect((await gateway.call('DELETE', path(name))).status).toBe(200);
  for (const { targets } of [tokyo!, paris!, osaka!]) targets.length = 0;
});

/** The nodes lead nowhere: on a busy machine the schedule has found that before a test is over. */
const forgetMeasurements = (): Promise<unknown> => gateway.app.app.get(DataSource).query('DELETE FROM node_health');

const OURS = new Set(['PROXY', 'AUTO', 'FALLBACK', 'BALANCE', 'JP', 'FR']);
const path = (name: string): string => `/outbound/groups/${encodeURIComponent(name)}`;
const overview = async (query = '') => (await gateway.call<OutboundOverview>('GET', `/outbound${query}`)).body;
const group = async (name: string) => (await gateway.call<OutboundGroupView>('GET', path(name))).body;
const create = (body: object) => gateway.call('POST', '/outbound/groups', { type: 'select', ...body });
const fetchOnce = () => getThrough(gateway.proxyPort, `${origin.url}/`);
const carried = () => [tokyo!, paris!, osaka!].map(({ targets }) => targets.length);

async function addNode(name: string, proxy: UpstreamProxy): Promise<void> {
  const raw = `http://127.0.0.1:${proxy.port}#${encodeURIComponent(name)}`;
  ids[name] = (await gateway.call<NodeView>('POST', '/proxies', { raw_config: raw })).body.id;
}

describe('POST /outbound/groups', () => {
  it('makes a group of the nodes that a filter finds, and traffic goes through it', async () => {
    const { status, body } = await create({
      name: 'Japan / 日本 50%',
      type: 'url-test',
      filter: { name: '^JP .*(tokyo|大阪)', countries: ['JP'], types: ['http'] },
      exclude: { name: '\\b1\\b' },
      tolerance_ms: 0,
      test_url: 'http://test.example/204',
      expected_status: '200-299',
      interval_sec: 60,
      lazy: false,
      hidden: true,
      icon: 'https://icons.example/jp.svg',
      empty_fallback: 'DIRECT',
    });
    expect([status, body]).toMatchObject([
      201,
      {
        name: 'Japan / 日本 50%',
        type: 'url-test',
        now: 'JP 大阪 2',
        now_proxy: `n${ids['JP 大阪 2']}`,
        all: ['JP 大阪 2'],
        members_total: 1,
        filter: { name: '^JP .*(tokyo|大阪)', countries: ['JP'], types: ['http'] },
        exclude: { name: '\\b1\\b' },
        tolerance_ms: 0,
        test_url: 'http://test.example/204',
        expected_status: '200-299',
        interval_sec: 60,
        lazy: false,
        hidden: true,
        icon: 'https://icons.example/jp.svg',
        empty_fallback: 'DIRECT',
        automatic: false,
        fixed: false,
      },
    ]);
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'Japan / 日本 50%' });
    await fetchOnce();
    expect(carried()).toEqual([0, 0, 1]);
  });

  it('takes names, tags and groups as members, in their order', async () => {
    const { body } = await create({ name: 'Mine', members: ['FR Paris', `n${ids['JP Tokyo 1']}`, 'AUTO', 'DIRECT'] });
    expect(body.all).toEqual(['FR Paris', 'JP Tokyo 1', 'AUTO', 'DIRECT']);
    expect(body.listed).toEqual([`n${ids['FR Paris']}`, `n${ids['JP Tokyo 1']}`, 'AUTO', 'DIRECT']);
  });

  it('spreads connections over a load-balance group, which has no choice', async () => {
    await create({ name: 'Spread', type: 'load-balance', strategy: 'round-robin', filter: {} });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'Spread' });
    for (let i = 0; i < 6; i++) await fetchOnce();
    expect(carried()).toEqual([2, 2, 2]);
    expect(await group('Spread')).toMatchObject({ now: null, strategy: 'round-robin' });
    for (const [method, more] of [
      ['PUT', ''],
      ['DELETE', '/selection'],
    ] as const) {
      const answer = await gateway.call(
        method,
        path('Spread') + more,
        method === 'PUT' ? { proxy: 'FR Paris' } : undefined,
      );
      expect([answer.status, answer.body.code]).toEqual([422, 'UNPROCESSABLE']);
    }
  });

  it('uses the fallback of an empty group', async () => {
    await create({ name: 'Nobody', filter: { countries: ['US'] }, empty_fallback: 'DIRECT' });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'Nobody' });
    expect((await fetchOnce()).status).toBe(200);
    expect(carried()).toEqual([0, 0, 0]);
    await gateway.call('PATCH', path('Nobody'), { empty_fallback: 'REJECT' });
    expect((await fetchOnce()).status).toBeGreaterThanOrEqual(400);
  });

  it.each([
    [{ name: 'x' }, 400, 'members'],
    [{ name: 'x', members: ['Nowhere'] }, 422, 'members'],
    [{ name: 'x', members: ['x'] }, 422, 'members'],
    [{ name: '', members: ['DIRECT'] }, 400, 'name'],
    [{ name: ' x', members: ['DIRECT'] }, 400, 'name'],
    [{ name: 'a,b', members: ['DIRECT'] }, 400, 'name'],
    [{ name: 'direct', members: ['DIRECT'] }, 400, 'name'],
    [{ name: 'n12', members: ['DIRECT'] }, 400, 'name'],
    [{ name: 'a\nb', members: ['DIRECT'] }, 400, 'name'],
    [{ name: 'a\ud800', members: ['DIRECT'] }, 400, 'name'],
    [{ name: 'x', filter: { tags: ['\0'] } }, 400, 'filter.tags'],
    [{ name: '..', members: ['DIRECT'] }, 400, 'name'],
    [{ name: 'x', type: 'relay', members: ['DIRECT'] }, 400, 'type'],
    [{ name: 'x', filter: { name: '(' } }, 400, 'filter.name'],
    [{ name: 'x', filter: { name: '(?=a)' } }, 400, 'filter.name'],
    [{ name: 'x', filter: { countries: ['XX'] } }, 400, 'filter.countries'],
    [{ name: 'x', filter: { types: ['pigeon'] } }, 400, 'filter.types'],
    [{ name: 'x', filter: { colour: 'red' } }, 400, 'filter.colour'],
    [{ name: 'x', filter: 'all' }, 400, 'filter'],
    [{ name: 'x', filter: {}, tolerance_ms: 5 }, 400, 'tolerance_ms'],
    [{ name: 'x', filter: {}, strategy: 'round-robin' }, 400, 'strategy'],
    [{ name: 'x', filter: {}, test_url: 'ftp://x' }, 400, 'test_url'],
    [{ name: 'x', filter: {}, expected_status: '99' }, 400, 'expected_status'],
    [{ name: 'x', filter: {}, interval_sec: 1 }, 400, 'interval_sec'],
    [{ name: 'x', filter: {}, icon: 'javascript:1' }, 400, 'icon'],
    [{ name: 'x', filter: {}, empty_fallback: 'AUTO' }, 400, 'empty_fallback'],
    [{ name: 'x', filter: {}, automatic: true }, 400, 'automatic'],
    [{ name: 'x', exclude: {}, members: ['DIRECT'] }, 400, 'exclude'],
  ])('refuses %j with %d', async (body, status, field) => {
    const answer = await create(body);
    expect([answer.status, answer.body.details?.map((detail: { field: string }) => detail.field)]).toEqual([
      status,
      expect.arrayContaining([field]),
    ]);
    expect((await overview('?members=false')).groups.map(({ name }) => name)).toEqual([...OURS].sort(byOrder));
  });

  it('refuses a name that is taken, a circle, and a key that may only read', async () => {
    expect(await create({ name: 'JP', members: ['DIRECT'] })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    await create({ name: 'a', members: ['DIRECT'] });
    await create({ name: 'b', members: ['a'] });
    const circle = await gateway.call('PATCH', path('a'), { members: ['b'] });
    expect([circle.status, circle.body.error]).toEqual([422, expect.stringMatching(/a → b → a|b → a → b/)]);
    const main = await gateway.call('PATCH', path('PROXY'), { members: ['PROXY'] });
    expect(main.status).toBe(422);
    const { key } = (await gateway.call('POST', '/api-keys', { name: 'r', scopes: ['read'] })).body;
    const headers = { authorization: `Bearer ${key}` };
    expect(
      (await gateway.call('POST', '/outbound/groups', { name: 'c', type: 'select', filter: {} }, headers)).status,
    ).toBe(403);
    expect((await gateway.call('GET', path('a'), undefined, headers)).status).toBe(200);
  });
});

const byOrder = (a: string, b: string): number => {
  const order = ['PROXY', 'AUTO', 'FALLBACK', 'BALANCE', 'FR', 'JP'];
  return order.indexOf(a) - order.indexOf(b);
};

describe('PATCH /outbound/groups/{name}', () => {
  it('changes the given fields only', async () => {
    await create({
      name: 'g',
      type: 'url-test',
      filter: { countries: ['JP'] },
      tolerance_ms: 7,
      test_url: 'http://t.example/',
    });
    const { status, body } = await gateway.call('PATCH', path('g'), { filter: { countries: ['FR'] }, test_url: null });
    expect([status, body]).toMatchObject([
      200,
      { all: ['FR Paris'], tolerance_ms: 7, test_url: 'https://www.gstatic.com/generate_204' },
    ]);
    const other = await gateway.call('PATCH', path('g'), { type: 'load-balance', strategy: 'sticky-sessions' });
    expect(other.body).toMatchObject({ type: 'load-balance', strategy: 'sticky-sessions', tolerance_ms: null });
  });

  it('renames it everywhere', async () => {
    await create({ name: 'old', members: ['FR Paris', 'DIRECT'] });
    await create({ name: 'outer', members: ['DIRECT', 'old'] });
    await gateway.call('PUT', path('outer'), { proxy: 'old' });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'old' });
    const { id } = (await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'a.example', target: 'old' })).body;
    expect((await gateway.call('PATCH', path('old'), { name: 'new' })).body.name).toBe('new');
    expect((await overview()).default_policy).toBe('new');
    expect(await group('outer')).toMatchObject({ all: ['DIRECT', 'new'], now: 'new', fixed: true });
    const rules = (await gateway.call('GET', '/rules')).body.items;
    expect(rules.find((rule: { id: number }) => rule.id === id)).toMatchObject({ target: 'new', valid: true });
    expect((await gateway.call('GET', path('old'))).status).toBe(404);
    expect((await gateway.call('PATCH', path('new'), { name: 'AUTO' })).status).toBe(409);
  });

  it('protects the groups of the service', async () => {
    expect((await gateway.call('PATCH', path('PROXY'), { name: 'other' })).status).toBe(409);
    expect((await gateway.call('PATCH', path('PROXY'), { type: 'url-test' })).status).toBe(409);
    expect((await gateway.call('PATCH', path('JP'), { filter: {} })).status).toBe(409);
    expect((await gateway.call('PATCH', path('JP'), { hidden: true, tolerance_ms: 9 })).body).toMatchObject({
      hidden: true,
      tolerance_ms: 9,
      automatic: true,
    });
    const listed = (await group('PROXY')).listed;
    expect((await gateway.call('PATCH', path('PROXY'), { include_countries: false })).body.all).not.toContain('JP');
    await gateway.call('PATCH', path('PROXY'), { include_countries: true, members: listed });
    await gateway.call('PATCH', path('JP'), { hidden: false, tolerance_ms: null });
    expect((await gateway.call('PATCH', path('Nope'), { hidden: true })).status).toBe(404);
    expect((await gateway.call('PATCH', path('AUTO'), { colour: 1 })).status).toBe(400);
  });
});

describe('DELETE /outbound/groups/{name}', () => {
  it('refuses while something refers to it, and names that', async () => {
    await create({ name: 'used', members: ['DIRECT'] });
    await create({ name: 'outer', members: ['used'] });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'used' });
    const rule = (await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'a.example', target: 'used' })).body;
    const { status, body } = await gateway.call('DELETE', path('used'));
    expect([status, body.code, body.details]).toEqual([
      409,
      'IN_USE',
      [
        { field: 'default_policy', message: 'is this group' },
        { field: 'groups', message: 'outer has it as a member' },
        { field: 'rules', message: `rule ${rule.id} (DOMAIN,a.example) leads to it` },
      ],
    ]);
    await gateway.call('DELETE', `/rules/${rule.id}`);
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'PROXY' });
    await gateway.call('DELETE', path('outer'));
    expect((await gateway.call('DELETE', path('used'))).body).toEqual({ name: 'used', deleted: true });
    expect((await gateway.call('DELETE', path('used'))).status).toBe(404);
  });

  it.each(['PROXY', 'JP'])('keeps %s', async (name) => {
    expect(await gateway.call('DELETE', path(name))).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });
});

describe('choices', () => {
  it.each(['url-test', 'fallback'])('fixes a %s group, and takes the choice back', async (type) => {
    await create({ name: 'g', type, members: ['JP Tokyo 1', 'FR Paris'] });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'g' });
    const fixed = await gateway.call('PUT', path('g'), { proxy: 'FR Paris' });
    expect(fixed.body).toMatchObject({ now: 'FR Paris', fixed: true, previous: 'JP Tokyo 1' });
    await fetchOnce();
    expect(carried()).toEqual([0, 1, 0]);
    expect(await group('g')).toMatchObject({ now: 'FR Paris', fixed: true });
    const released = await gateway.call('DELETE', `${path('g')}/selection`);
    expect([released.status, released.body]).toMatchObject([200, { fixed: false, type }]);
    expect(await group('g')).toMatchObject({ fixed: false });
    expect((await gateway.call('DELETE', `${path('Nope')}/selection`)).status).toBe(404);
  });

  it('keeps a choice that is made during a change of the group', async () => {
    await create({ name: 'g', members: ['DIRECT', 'REJECT'] });
    for (let round = 0; round < 30; round++) {
      const proxy = round % 2 === 0 ? 'REJECT' : 'DIRECT';
      const change = (body: object): Promise<unknown> => gateway.call('PATCH', path('g'), body);
      await Promise.all([
        gateway.call('PUT', path('g'), { proxy }),
        change({ hidden: round % 2 === 0 }),
        change({ icon: `https://icons.example/${round}` }),
      ]);
      expect([round, (await group('g')).now]).toEqual([round, proxy]);
    }
  });

  it('follows what another process stored', async () => {
    await create({ name: 'g', members: ['JP Tokyo 1', 'FR Paris'] });
    const dataSource = gateway.app.app.get(DataSource);
    await dataSource.transaction(async (tx) => {
      await tx.query(`UPDATE outbound_groups SET selected_tag = $1, selected_name = 'FR Paris' WHERE name = 'g'`, [
        `n${ids['FR Paris']}`,
      ]);
      await notify(tx, KERNEL_CONFIG_CHANNEL, ONLY_SELECTIONS);
    });
    await waitFor(async () => (await group('g')).now === 'FR Paris' || undefined);
  });

  it('keeps a history of them', async () => {
    await create({ name: 'g', members: ['JP Tokyo 1', 'FR Paris', 'DIRECT'] });
    for (const proxy of ['FR Paris', 'FR Paris', 'DIRECT', 'JP Tokyo 1'])
      await gateway.call('PUT', path('g'), { proxy });
    await gateway.call('DELETE', `${path('g')}/selection`);
    const { status, body } = await gateway.call('GET', `${path('g')}/history?limit=2`);
    expect([status, body]).toEqual([
      200,
      {
        items: [
          {
            id: expect.any(Number),
            at: expect.stringMatching(/Z$/),
            from: 'DIRECT',
            from_proxy: 'DIRECT',
            to: 'JP Tokyo 1',
            to_proxy: `n${ids['JP Tokyo 1']}`,
            reason: 'manual',
            closed_connections: 0,
          },
          expect.objectContaining({ from: 'FR Paris', to: 'DIRECT' }),
        ],
        total: 3,
        limit: 2,
        offset: 0,
      },
    ]);
    const rest = (await gateway.call('GET', `${path('g')}/history?limit=2&offset=2`)).body;
    expect(rest.items).toMatchObject([{ from: 'JP Tokyo 1', to: 'FR Paris' }]);
    for (const query of ['limit=501', 'limit=0', 'offset=-1', 'page=1']) {
      expect((await gateway.call('GET', `${path('g')}/history?${query}`)).status).toBe(400);
    }
    for (const name of ['Nope', 'a\0']) expect((await gateway.call('GET', `${path(name)}/history`)).status).toBe(404);
    const switches = gateway.app.app.get(GroupSwitches, { strict: false });
    expect(await switches.prune(new Date(Date.now() + 1_000))).toBeGreaterThanOrEqual(3);
    expect((await gateway.call('GET', `${path('g')}/history`)).body.total).toBe(0);
  });
});

describe('GET /outbound', () => {
  it('shows as much of long member lists as asked', async () => {
    const none = await overview('?members=false');
    expect(none.groups[1]).toMatchObject({ members: [], all: [], members_total: 3, now: 'JP Tokyo 1' });
    const some = await overview('?members_limit=1&members_offset=1');
    expect(some.groups[1]).toMatchObject({ all: ['FR Paris'], members_total: 3 });
    for (const query of ['members_limit=501', 'members=maybe', 'limit=1']) {
      expect((await gateway.call('GET', `/outbound?${query}`)).status).toBe(400);
    }
  });

  it('shows measurements of members, and what a group uses', async () => {
    const dataSource = gateway.app.app.get(DataSource);
    const testUrl = 'http://own.example/';
    await create({ name: 'inner', members: ['FR Paris'] });
    await create({ name: 'own', members: ['inner', 'JP Tokyo 1'], test_url: testUrl });
    await forgetMeasurements();
    await dataSource.query(
      `INSERT INTO node_health (node_id, test_url, alive, delay_ms, last_tested_at)
       VALUES ($1, '', true, 42, now()), ($1, $3, false, NULL, now()), ($2, '', false, NULL, now())
       ON CONFLICT (node_id, test_url) DO UPDATE SET alive = excluded.alive, delay_ms = excluded.delay_ms`,
      [ids['FR Paris'], ids['JP Tokyo 1'], testUrl],
    );
    const measured = async (name: string) =>
      (await group(name)).members.map((member) => [member.name, member.alive, member.delay_ms]);
    expect(await measured('AUTO')).toEqual([
      ['JP Tokyo 1', false, null],
      ['FR Paris', true, 42],
      ['JP 大阪 2', null, null],
    ]);
    expect(await measured('own')).toEqual([
      ['inner', false, null],
      ['JP Tokyo 1', null, null],
    ]);
    await forgetMeasurements();
  });

  it('counts what went through a group', async () => {
    await create({ name: 'counted', members: ['FR Paris'] });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'counted' });
    await getThrough(gateway.proxyPort, `${origin.url}/bytes/100000`);
    const { download_total } = await waitFor(async () => {
      const view = await group('counted');
      return view.active_connections === 0 && view.download_total > 0 ? view : undefined;
    });
    expect(download_total).toBeGreaterThanOrEqual(100_000);
    expect(download_total).toBeLessThan(110_000);
  });

  it('follows the routing mode', async () => {
    const preferences = gateway.app.app.get(Preferences, { strict: false });
    await gateway.call('POST', '/rules', { type: 'MATCH', payload: '', target: 'REJECT' });
    await preferences.write({ 'routing.mode': 'global' });
    await waitFor(async () => (await overview()).mode === 'global' || undefined);
    expect((await fetchOnce()).status).toBe(200);
    await preferences.write({ 'routing.mode': 'direct' });
    await waitFor(async () => (await overview()).mode === 'direct' || undefined);
    const before = carried();
    expect((await fetchOnce()).status).toBe(200);
    expect(carried()).toEqual(before);
    await preferences.write({ 'routing.mode': 'rule' });
    await waitFor(async () => (await overview()).mode === 'rule' || undefined);
  });
});

describe('groups of countries', () => {
  it('come and go with their nodes; what refers to one falls back and reports it', async () => {
    await forgetMeasurements();
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'FR' });
    await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'a.example', target: 'FR' });
    await gateway.call('PUT', `/proxies/${ids['FR Paris']}`, { country: 'DE' });
    const { groups, default_policy } = await overview();
    expect(groups.filter(({ automatic }) => automatic).map(({ name }) => name)).toEqual(['DE', 'JP']);
    expect(default_policy).toBe('PROXY');
    const logged = gateway.app.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(logged).toContain('The default policy FR is gone; PROXY is used instead');
    expect(logged.some((message) => String(message).startsWith('No usable node is left in FR'))).toBe(true);
    await gateway.call('PUT', `/proxies/${ids['FR Paris']}`, { country: 'FR' });
    expect(await overview()).toMatchObject({ default_policy: 'FR' });
  });

  it('are not made if they are switched off', async () => {
    const preferences = gateway.app.app.get(Preferences, { strict: false });
    await preferences.write({ 'outbound.country_groups': 'false' });
    await waitFor(async () => !(await overview()).groups.some(({ automatic }) => automatic) || undefined);
    // A country whose nodes were all found dead gets no group.
    await forgetMeasurements();
    await preferences.write({ 'outbound.country_groups': 'true' });
    await waitFor(async () => (await overview()).groups.filter(({ automatic }) => automatic).length === 2 || undefined);
  });
});

describe('GroupTestTargets', () => {
  it('finds what has to be measured with which address', async () => {
    await create({ name: 'inner', type: 'fallback', members: ['JP Tokyo 1'] });
    const testUrl = 'http://own.example/';
    await create({
      name: 'own',
      type: 'url-test',
      members: ['inner', 'FR Paris', 'DIRECT'],
      test_url: testUrl,
      interval_sec: 30,
    });
    await create({
      name: 'too',
      type: 'url-test',
      members: ['FR Paris'],
      test_url: testUrl,
      interval_sec: 20,
      lazy: false,
    });
    const targets = gateway.app.app.select(GroupTestTargetsModule).get(GroupTestTargets);
    expect(await targets.list()).toEqual([
      {
        testUrl,
        expectedStatus: '204',
        intervalSec: 20,
        lazy: false,
        groups: ['own', 'too'],
        nodeIds: [ids['JP Tokyo 1'], ids['FR Paris']],
      },
    ]);
  });
});
