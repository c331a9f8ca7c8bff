/** The built agent behind proxies: v2ray (HTTP), microsocks (SOCKS5), and one of our own that notes what it is asked for. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { makeCertificate, waitFor } from '@gatehouse/testing';
import { agentKeyHash, createAgentSecret, formatVisitorKey } from '@gatehouse/tunnel-kernel';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { AgentPrograms, type StartedAgent } from '../support/agent-program.js';
import { ConnectProxy } from '../support/connect-proxy.js';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { TunnelYard, type YardClient } from '../support/tunnel-yard.js';
import { askUdp, exchange } from '../support/visitors.js';

/** Only a proxy can find it. */
const NOWHERE = 'gateway.invalid';
const SECRET = 'p:w/d@';
const LOGIN = `ann:${encodeURIComponent(SECRET)}`;
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-agent-proxies-'));
const agents = new AgentPrograms(process.execPath);
const programs = new Programs();
let yard: TunnelYard;
let client: YardClient;
let port: number;
let proxy: ConnectProxy;

beforeAll(async () => {
  yard = await TunnelYard.start();
  client = yard.client({ encrypt: true });
  port = await yard.open(client, [await yard.named('from the target')]);
});
beforeEach(async () => void (proxy = await ConnectProxy.start()));
afterEach(async () => {
  agents.killAll();
  await proxy.die();
  await waitFor(() => yard.server.agents().length === 0);
});
afterAll(async () => {
  await programs.stopAll();
  await yard?.close();
  rmSync(folder, { recursive: true });
});

function start(args: readonly string[], environment: Record<string, string> = {}): StartedAgent {
  return agents.start([...args, '--log', 'text'], { GATEHOUSE_AGENT_KEY: client.key, ...environment });
}

/** The agent carries a visitor. */
async function works(): Promise<void> {
  await yard.online(client);
  expect(await exchange(port, '')).toBe('from the target');
}

async function says(agent: StartedAgent, text: string): Promise<void> {
  await waitFor(() => agent.output().includes(text));
  expect(agent.output()).not.toContain(SECRET);
  expect(agent.output()).not.toContain(LOGIN);
}

function startMicrosocks(context: TestContext, login: readonly string[]): Promise<number> {
  const microsocks = requirePeer(context, 'microsocks');
  return programs.start(microsocks, (at) => ['-i', '127.0.0.1', '-p', String(at), ...login]);
}

function startV2ray(context: TestContext): Promise<number> {
  const v2ray = requirePeer(context, 'v2ray');
  const config = path.join(folder, 'v2ray.json');
  return programs.start(v2ray, (at) => {
    const settings = { accounts: [{ user: 'ann', pass: SECRET }] };
    const inbound = { listen: '127.0.0.1', port: at, protocol: 'http', settings };
    const outbounds = [{ protocol: 'freedom', settings: {} }];
    writeFileSync(config, JSON.stringify({ log: { loglevel: 'warning' }, inbounds: [inbound], outbounds }));
    return ['-config', config];
  });
}

describe('the way to the gateway', () => {
  it.each([
    ['the port for agents', 'HTTPS_PROXY', () => `${NOWHERE}:${yard.port}`],
    ['wss', 'https_proxy', () => `wss://${NOWHERE}:${yard.https}`],
    ['ws', 'http_proxy', () => `ws://${NOWHERE}:${yard.http}`],
    ['ws by ALL_PROXY', 'ALL_PROXY', () => `ws://${NOWHERE}:${yard.http}`],
  ])('goes through the proxy, which resolves the name: %s', async (_, variable, server) => {
    const agent = start(['--server', server()], { [variable]: `http://127.0.0.1:${proxy.port}` });
    await works();
    await says(agent, `through the proxy http://127.0.0.1:${proxy.port}; UDP does not go through it`);
    expect(new Set(proxy.asked.map((place) => place.split(':')[0]))).toContain(NOWHERE);
    expect(agent.output()).toContain('online');
  });

  it('goes over a WebSocket at port 443 where the proxy connects to no other port', async () => {
    proxy.answer = 403;
    const agent = start(['--server', `${NOWHERE}:${yard.port}`], { HTTPS_PROXY: `127.0.0.1:${proxy.port}` });
    await waitFor(() => proxy.asked.includes(`${NOWHERE}:443`));
    expect(proxy.asked).toContain(`${NOWHERE}:${yard.port}`);
    await says(agent, `the proxy http://127.0.0.1:${proxy.port} answered 403 to CONNECT ${NOWHERE}:443`);
  });

  it('goes through a proxy with TLS, whose certificate is verified', async () => {
    const made = makeCertificate({ subject: 'proxy', names: ['localhost'], ca: true });
    const authority = path.join(folder, 'authority.pem');
    writeFileSync(authority, made.certificate);
    const sealed = await ConnectProxy.start({ cert: made.certificate, key: made.key });
    try {
      const args = ['--server', `${NOWHERE}:${yard.port}`, '--proxy', `https://localhost:${sealed.port}`];
      const wary = start(args);
      await says(wary, `the proxy https://localhost:${sealed.port} failed: `);
      expect(sealed.asked).toEqual([]);
      wary.child.kill();
      expect(await wary.code).toBe(0);
      start(args, { NODE_EXTRA_CA_CERTS: authority });
      await works();
    } finally {
      await sealed.die();
    }
  });

  it('is direct for addresses of NO_PROXY and with proxy: none', async () => {
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const excepted = start(['--server', `127.0.0.1:${yard.port}`], {
      ...environment,
      NO_PROXY: 'localhost,127.0.0.0/8',
    });
    await works();
    excepted.child.kill();
    await excepted.code;
    await waitFor(() => yard.server.agents().length === 0);
    const config = path.join(folder, 'none.yaml');
    writeFileSync(config, 'proxy: none\n');
    start(['--server', `127.0.0.1:${yard.port}`, '--config', config], environment);
    await works();
    expect(proxy.asked).toEqual([]);
  });

  it('goes through the proxy of the file, which wins over the environment', async () => {
    const config = path.join(folder, 'agent.yaml');
    writeFileSync(config, `proxy: http://127.0.0.1:${proxy.port}\n`);
    start(['--server', `${NOWHERE}:${yard.port}`, '--config', config], {
      HTTPS_PROXY: 'http://127.0.0.1:1',
      NO_PROXY: '*',
    });
    await works();
  });
});

describe('proxies of others', () => {
  it('are an HTTP proxy with Basic', async (context) => {
    const at = await startV2ray(context);
    start(['--server', `localhost:${yard.port}`], { HTTPS_PROXY: `http://${LOGIN}@127.0.0.1:${at}` });
    await works();
    agents.killAll();
    await waitFor(() => yard.server.agents().length === 0);
    const wrong = start(['--server', `localhost:${yard.port}`], { HTTPS_PROXY: `http://ann:wrong@127.0.0.1:${at}` });
    await says(wrong, `the proxy http://127.0.0.1:${at} does not accept the user or the password`);
    const none = start(['--server', `localhost:${yard.port}`], { HTTPS_PROXY: `http://127.0.0.1:${at}` });
    await says(none, `the proxy http://127.0.0.1:${at} asks for a user and a password`);
    expect(wrong.child.exitCode).toBeNull();
  });

  it('are a SOCKS5 proxy with and without a login', async (context) => {
    const open = await startMicrosocks(context, []);
    start(['--server', `localhost:${yard.port}`], { ALL_PROXY: `socks5h://${LOGIN}@127.0.0.1:${open}` });
    await works();
    agents.killAll();
    await waitFor(() => yard.server.agents().length === 0);
    const at = await startMicrosocks(context, ['-u', 'ann', '-P', SECRET]);
    start(['--server', `wss://localhost:${yard.https}`], { ALL_PROXY: `socks5://${LOGIN}@127.0.0.1:${at}` });
    await works();
    const wrong = start(['--server', `localhost:${yard.port}`], { ALL_PROXY: `socks5://ann:wrong@127.0.0.1:${at}` });
    await says(wrong, `the proxy socks5://127.0.0.1:${at} does not accept the user or the password`);
    const none = start(['--server', `localhost:${yard.port}`], { ALL_PROXY: `socks5://127.0.0.1:${at}` });
    await says(none, `the proxy socks5://127.0.0.1:${at} asks for a user and a password`);
  });

  it('say why they do not connect', async (context) => {
    const at = await startMicrosocks(context, []);
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port: nobody } = closed.address() as AddressInfo;
    closed.close();
    const agent = start(['--server', `127.0.0.1:${nobody}`, '--transport', 'raw'], {
      ALL_PROXY: `socks5://127.0.0.1:${at}`,
    });
    await says(agent, `the proxy socks5://127.0.0.1:${at} was refused by 127.0.0.1:${nobody}`);
  });
});

describe('a bad day of the proxy', () => {
  it('is survived: the agent connects again when the proxy is back', async () => {
    const agent = start(['--server', `${NOWHERE}:${yard.port}`], { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    await works();
    await proxy.die();
    await says(agent, `the proxy http://127.0.0.1:${proxy.port} was not reached`);
    await proxy.open();
    await works();
  });

  it('ends an attempt when the proxy does not answer', async () => {
    proxy.answer = 'hang';
    const agent = start(['--server', `${NOWHERE}:${yard.port}`], { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    await says(agent, `the proxy http://127.0.0.1:${proxy.port} did not answer within `);
    proxy.answer = 'connect';
    await works();
  }, 60_000);

  it('is named when it is no proxy, and when it is used wrongly', async () => {
    const noise = await yard.named('SSH-2.0-OpenSSH_9.2\r\n\r\n');
    const environment = (scheme: string): Record<string, string> => ({ HTTPS_PROXY: `${scheme}://127.0.0.1:${noise}` });
    const http = start(['--server', `${NOWHERE}:1`, '--transport', 'raw'], environment('http'));
    await says(http, `the proxy http://127.0.0.1:${noise} does not answer with HTTP`);
    const socks = start(['--server', `${NOWHERE}:1`, '--transport', 'raw'], environment('socks5'));
    await says(socks, `the proxy socks5://127.0.0.1:${noise} does not answer with SOCKS5`);
    const wrong = start(['--server', 'a:1'], { https_proxy: `socks4://${LOGIN}@127.0.0.1:1` });
    expect(await wrong.code).toBe(2);
    await says(wrong, 'https_proxy is not a proxy');
  });
});

describe('what UDP would carry', () => {
  it('goes over TCP through the proxy: datagrams', async () => {
    const udp = await yard.open(client, [await yard.udpEcho()], { mode: 'udp' });
    const visitor = await yard.udpSocket();
    start(['--server', `${NOWHERE}:${yard.port}`], { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    await yard.online(client);
    expect(String(await askUdp(visitor, udp, 'hello'))).toBe('hello');
    expect(yard.server.agents()[0]).toMatchObject({ via: 'tcp', packets: false });
  });

  it('goes through the gateway: a tunnel of mode p2p, whose visitor is behind a proxy, too', async () => {
    const secret = createAgentSecret();
    const target = await yard.named('from the target');
    await yard.open(client, [target], { mode: 'p2p', visitorKeyHash: agentKeyHash(secret) });
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    start(['--server', `${NOWHERE}:${yard.port}`], environment);
    await yard.online(client);
    const key = formatVisitorKey({ tunnelId: 7, secret, fingerprint: client.key.split('.')[2] ?? '' });
    const args = ['visit', '--server', `${NOWHERE}:${yard.port}`, '--listen', '127.0.0.1:0'];
    const visitor = start(args, { ...environment, GATEHOUSE_VISITOR_KEY: key });
    await says(visitor, 'leads to the tunnel');
    await says(visitor, 'UDP does not go through it');
    const local = Number(/127\.0\.0\.1:(\d+) leads/.exec(visitor.output())?.[1]);
    for (let visit = 0; visit < 2; visit++) expect(await exchange(local, '')).toBe('from the target');
    expect(visitor.output()).not.toContain('directly');
  });
});
