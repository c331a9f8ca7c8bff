import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';

let gateway: Gateway;
let provider: Provider;
beforeAll(async () => {
  [gateway, provider] = await Promise.all([startGateway(), startProvider()]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function subscribe(name: string, port: number): Promise<number> {
  provider.list(shadowsocksLink('secret', 'Tokyo', port));
  const body = { name, url: provider.url, allow_private: true, interval_sec: 86_400 };
  const { id } = (await gateway.call('POST', '/subscriptions', body)).body;
  await gateway.call('POST', `/subscriptions/${id}/refresh?force=true`);
  return id;
}

it('tells nodes of one name apart by their subscriptions, in rules, imports and groups', async () => {
  await subscribe('Air', 1001);
  await subscribe('Sea, too', 1002);
  const nodes: AnyJson[] = (await gateway.call('GET', '/proxies')).body.items;
  const tagOf = (port: number): string => `n${nodes.find((node) => node.port === port).id}`;
  expect(nodes.map(({ name }) => name)).toEqual(['Tokyo', 'Tokyo']);

  const add = (target: string) => gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'a.example', target });
  const ambiguous = await add('Tokyo');
  expect([ambiguous.status, ambiguous.body.error]).toEqual([
    422,
    expect.stringMatching(/2 nodes have this name: use .*"Air\/Tokyo"/),
  ]);
  expect((await add('Nobody/Tokyo')).status).toBe(422);
  expect((await add('Air/Tokyo')).body.target).toBe(tagOf(1001));
  expect((await add('Sea, too/Tokyo')).body.target).toBe(tagOf(1002));

  const text = 'DOMAIN,b.example,Air/Tokyo\nDOMAIN,c.example,Tokyo';
  const { body: imported } = await gateway.call('POST', '/rules/import', { text });
  expect(imported).toMatchObject({ created: 1, failed: 1 });
  const chosen = await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: 'Sea, too/Tokyo' });
  expect(chosen.status).toBe(200);
  const { groups } = (await gateway.call('GET', '/outbound')).body;
  expect(groups.find(({ name }: AnyJson) => name === 'PROXY').now_proxy).toBe(tagOf(1002));

  // A name of one's own goes behind the subscription as well.
  await gateway.call('PUT', `/proxies/${tagOf(1001).slice(1)}`, { name: 'Osaka' });
  expect((await add('Air/Tokyo')).status).toBe(422);
  expect((await add('Air/Osaka')).body.target).toBe(tagOf(1001));
  expect((await add('Tokyo')).body.target).toBe(tagOf(1002));
});
