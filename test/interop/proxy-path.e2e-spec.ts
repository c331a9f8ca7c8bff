import type {
  ConnectionListResponse,
  NodeView,
  Page,
  RefreshResult,
  RuleTestResponse,
  RuleView,
  SubscriptionView,
  TrafficLogListResponse,
  TrafficLogView,
} from '@gatehouse/contracts';
import { findPeer, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { curl } from '../support/curl.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { NginxOrigin } from '../support/web-origin.js';

const PASSWORD = 'interop-password';
const METHODS = ['aes-128-gcm', 'aes-256-gcm', 'chacha20-ietf-poly1305'];
const SIZE = 3_000_000;

const programs = new Programs();
let gateway: RunningProxyGateway;
let origin: NginxOrigin;
let nodes: NodeView[];
let rule: RuleView;
let proxyPort: number;

const PEERS = ['nginx', 'ss-server', 'microsocks', 'curl'];

/** The programs of this suite, or the end of the test: see requirePeer. */
function requirePeers(context: TestContext): void {
  for (const name of PEERS) requirePeer(context, name);
}

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  gateway = await RunningProxyGateway.start();
  origin = await NginxOrigin.start(programs, findPeer('nginx')!);
  origin.write('hello', 'hello from nginx\n');
  origin.write('big', Buffer.alloc(SIZE, 0x67));
  origin.write('subscription', await subscriptionText());
  await subscribe();
  rule = await gateway.call<RuleView>('POST', '/rules', {
    type: 'IP-CIDR',
    payload: '127.0.0.0/8',
    target: 'PROXY',
    no_resolve: true,
  });
  proxyPort = await gateway.proxyPort();
  await waitFor(async () => (await testRoute()).rule?.id === rule.id);
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await programs.stopAll();
  origin?.[Symbol.dispose]();
});

/** One link for each cipher of a real ss-server, and one of a real microsocks with a password. */
async function subscriptionText(): Promise<string> {
  const lines: string[] = [];
  for (const method of METHODS) {
    const port = await programs.start(findPeer('ss-server')!, (candidate) =>
      `-s 127.0.0.1 -p ${candidate} -k ${PASSWORD} -m ${method}`.split(' '),
    );
    const userinfo = Buffer.from(`${method}:${PASSWORD}`).toString('base64url');
    lines.push(`ss://${userinfo}@127.0.0.1:${port}#${method}`);
  }
  const socks = await programs.start(findPeer('microsocks')!, (port) =>
    `-i 127.0.0.1 -p ${port} -u someone -P ${PASSWORD}`.split(' '),
  );
  lines.push(`socks5://someone:${PASSWORD}@127.0.0.1:${socks}#microsocks`);
  return Buffer.from(lines.join('\n')).toString('base64');
}

async function subscribe(): Promise<void> {
  const subscription = await gateway.call<SubscriptionView>('POST', '/subscriptions', {
    name: 'interop',
    url: `http://127.0.0.1:${origin.port}/subscription`,
    type: 'auto',
    interval_sec: 3600,
    enabled: false,
    allow_private: true,
  });
  const result = await gateway.call<RefreshResult>('POST', `/subscriptions/${subscription.id}/refresh`);
  expect(result).toMatchObject({ status: 'updated', http_status: 200, parsed: 4, added: 4, skipped: 0 });
  nodes = (await gateway.call<Page<NodeView>>('GET', `/proxies?subscription_id=${subscription.id}`)).items;
}

async function testRoute(): Promise<RuleTestResponse> {
  return await gateway.call('POST', '/rules/test', { url: `http://127.0.0.1:${origin.port}/hello` });
}

async function select(name: string): Promise<NodeView> {
  const node = nodes.find((candidate) => candidate.name === name);
  if (!node) throw new Error(`no node ${name}`);
  await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: `n${node.id}` });
  return node;
}

/** The log row of the newest flow that began after `since`. */
async function newestLog(since: number): Promise<TrafficLogView> {
  return await waitFor(async () => {
    const { items } = await gateway.call<TrafficLogListResponse>('GET', '/traffic-logs?limit=5');
    return items.find(({ started_at }) => Date.parse(started_at) >= since);
  });
}

const ENTRIES: [string, (url: string) => string[]][] = [
  ['an HTTP proxy request', (url) => ['-x', `http://127.0.0.1:${proxyPort}`, url]],
  ['a CONNECT tunnel', (url) => ['-x', `http://127.0.0.1:${proxyPort}`, '--proxytunnel', url]],
  ['SOCKS5', (url) => ['-x', `socks5h://127.0.0.1:${proxyPort}`, url]],
  ['SOCKS4a', (url) => ['-x', `socks4a://127.0.0.1:${proxyPort}`, url]],
];

describe.each([...METHODS, 'microsocks'])('curl through a real server: %s', (name) => {
  it.for(ENTRIES)('by %s, counted to the byte', async ([, argumentsFor], context) => {
    requirePeers(context);
    const node = await select(name);
    const before = origin.log().length;
    const since = Date.now();
    const url = `http://127.0.0.1:${origin.port}/big`;
    expect(await curl(findPeer('curl')!, argumentsFor(url))).toEqual({ status: 200, bytes: SIZE });
    await waitFor(() => origin.log().length === before + 1);
    const seen = origin.log().at(-1)!;
    const log = await newestLog(since);
    expect(seen.uri).toBe('/big');
    expect({ upload: log.upload, download: log.download }).toEqual({
      upload: seen.requestBytes,
      download: seen.answerBytes,
    });
    expect(log).toMatchObject({
      status: 'ok',
      node_id: node.id,
      node_name: name,
      rule_id: rule.id,
      rule_type: 'IP-CIDR',
      rule_payload: '127.0.0.0/8',
      chains: ['PROXY', name],
    });
  });
});

describe('a connection while it is open', () => {
  it('shows node, rule and chain, equal to the result of /rules/test', async (context) => {
    requirePeers(context);
    const node = await select('aes-256-gcm');
    const url = `http://127.0.0.1:${origin.port}/slow/big`;
    const download = curl(findPeer('curl')!, ['-x', `socks5h://127.0.0.1:${proxyPort}`, url]);
    const open = await waitFor(async () => {
      const { connections } = await gateway.call<ConnectionListResponse>('GET', '/connections');
      return connections.find(({ download: bytes }) => bytes > 0);
    });
    expect(open).toMatchObject({
      type: 'Socks5',
      network: 'tcp',
      destination_ip: '127.0.0.1',
      destination_port: origin.port,
      rule: 'IP-CIDR',
      rule_payload: '127.0.0.0/8',
      rule_id: rule.id,
      chains: ['PROXY', 'aes-256-gcm'],
      node_id: node.id,
      state: 'open',
    });
    const test = await testRoute();
    expect({ id: test.rule?.id, chain: test.chain, node: test.node?.id }).toEqual({
      id: open.rule_id,
      chain: open.chains,
      node: open.node_id,
    });
    expect(await download).toEqual({ status: 200, bytes: SIZE });
  });
});
