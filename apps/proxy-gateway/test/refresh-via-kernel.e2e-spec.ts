import type { RefreshResult } from '@gatehouse/contracts';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let provider: Provider;
let node: UpstreamProxy;
beforeAll(async () => {
  [gateway, provider, node] = await Promise.all([startGateway(), startProvider(), startUpstreamProxy()]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await node[Symbol.asyncDispose]();
});

describe('a refresh through the kernel', () => {
  it('takes the route of the rules, and reports it', async () => {
    const set = await gateway.call('PUT', '/settings', {
      'subscription.via_proxy': 'always',
      'kernel.users': 'someone:p@ss/word',
    });
    expect(set.status).toBe(200);
    const raw = `http://127.0.0.1:${node.port}#way out`;
    expect((await gateway.call('POST', '/proxies', { raw_config: raw })).status).toBe(201);
    await waitFor(() => {
      const config = gateway.kernel.config;
      return config?.outbounds.length === 1 && config.listeners[0]?.users?.length === 1;
    });
    provider.reply = (request, response) =>
      response.end(shadowsocksLink(node.isOurs(request.socket) ? 'through the node' : 'directly'));
    const { id } = (
      await gateway.call('POST', '/subscriptions', {
        name: 's',
        url: provider.url,
        allow_private: true,
        enabled: false,
      })
    ).body;
    const refresh = async (): Promise<RefreshResult> =>
      (await gateway.call<RefreshResult>('POST', `/subscriptions/${id}/refresh`)).body;
    expect(await refresh()).toMatchObject({ status: 'updated', via: 'proxy', added: 1 });
    const names = async (): Promise<string[]> =>
      (await gateway.call('GET', `/proxies?subscription_id=${id}`)).body.items.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names()).toEqual(['through the node']);
    expect(node.targets).toContain(new URL(provider.url).host);

    await gateway.call('PUT', '/settings', { 'subscription.via_proxy': 'never', 'kernel.users': '' });
    expect(await refresh()).toMatchObject({ status: 'updated', via: 'direct' });
    expect(await names()).toEqual(['directly']);
  });

  it('keeps a download running and the selection while nodes come and go', async () => {
    const lists = ['a', 'b', 'c'].map((name) => shadowsocksLink(name));
    const { id } = (
      await gateway.call('POST', '/subscriptions', {
        name: 'changing',
        url: provider.url,
        allow_private: true,
        enabled: false,
      })
    ).body;
    await waitFor(() => gateway.kernel.config?.listeners[0]?.users === undefined);
    provider.list(...lists);
    await gateway.call('POST', `/subscriptions/${id}/refresh`);
    const manual = (await gateway.call('GET', '/proxies?source=manual')).body.items[0];
    expect((await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: manual.name })).status).toBe(200);
    const slow = await startProvider();
    const chunks = 10;
    let go = Promise.withResolvers<void>();
    slow.reply = (_request, response) => {
      void (async () => {
        for (let index = 0; index < chunks; index++) {
          response.write('x'.repeat(1_000));
          await go.promise;
          go = Promise.withResolvers<void>();
        }
        response.end();
      })();
    };
    const { ProxyAgent, request } = await import('undici');
    const agent = new ProxyAgent({ uri: `http://127.0.0.1:${gateway.proxyPort}`, proxyTunnel: true });
    const { body } = await request(slow.url, { dispatcher: agent });
    const whole = body.text();
    for (let index = 0; index < chunks; index++) {
      provider.list(...(index % 2 === 0 ? lists.slice(1) : lists));
      const { body: result } = await gateway.call('POST', `/subscriptions/${id}/refresh`);
      expect(result.status).toBe('updated');
      go.resolve();
    }
    expect((await whole).length).toBe(chunks * 1_000);
    const { groups } = (await gateway.call('GET', '/outbound')).body;
    expect(groups.find(({ name }: { name: string }) => name === 'PROXY')).toMatchObject({ now: manual.name });
    await agent.destroy();
    await slow[Symbol.asyncDispose]();
  });
});
