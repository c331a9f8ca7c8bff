import { findPeer, startHttpOrigin, waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import { getThrough } from './support/proxy-client.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';

describe('kernel.mode', () => {
  it('cannot be mihomo while the environment names no program', async () => {
    await using gateway = await startGateway();
    const { status, body } = await gateway.call('PUT', '/settings', { 'kernel.mode': 'mihomo' });
    expect(status).toBe(400);
    expect(body.details).toEqual([{ field: 'kernel.mode', message: expect.stringContaining('PROXY_GATEWAY_MIHOMO') }]);
  });

  it('has mihomo carry the traffic, by the same rules and groups, with what only it can dial', async (context) => {
    const program = findPeer('mihomo') ?? context.skip('mihomo is not installed: npm run peers -- --go');
    await using origin = await startHttpOrigin();
    await using upstream = await startUpstreamProxy();
    await using gateway = await startGateway({ PROXY_GATEWAY_MIHOMO: program }, { 'kernel.mode': 'mihomo' });
    const { body: status } = await gateway.call('GET', '/system/status');
    expect(status.kernel).toMatchObject({ type: 'mihomo', state: 'running', version: expect.any(String) });
    const raw = JSON.stringify({ server: '127.0.0.1', port: upstream.port });
    const node = await gateway.call('POST', '/proxies', { name: 'upstream', type: 'http', raw_config: raw });
    expect(node.status).toBe(201);
    const external = `hysteria2://secret@127.0.0.1:9?sni=example.com#by mihomo`;
    const other = await gateway.call('POST', '/proxies', { name: 'h2', type: 'hysteria2', raw_config: external });
    expect(other.body).toMatchObject({ kernel_support: 'external' });
    await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: `n${node.body.id}` });
    const rule = { type: 'DST-PORT', payload: String(origin.port), target: 'PROXY' };
    const { body: made } = await gateway.call('POST', '/rules', rule);
    await waitFor(async () => (await gateway.call('GET', '/system/status')).body.kernel.left_out_total === 0);
    const answer = await waitFor(async () => {
      const got = await getThrough(gateway.proxyPort, `${origin.url}/bytes/1000`);
      return upstream.targets.length > 0 ? got : undefined;
    });
    expect(answer.body).toHaveLength(1000);
    const tested = await gateway.call('POST', '/rules/test', { url: `${origin.url}/bytes/1000` });
    expect(tested.body).toMatchObject({ matched: true, rule: { id: made.id }, chain: ['PROXY', 'upstream'] });
  });
});
