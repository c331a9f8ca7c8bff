/** `gatehouse-agent http`, `tcp`, `share` and `up`: the built program, with a built gateway. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request as requestHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createHttpsServer } from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { withClient } from '@gatehouse/persistence';
import { makeCertificate, reservePorts, waitFor } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_FILE, AgentPrograms, type StartedAgent } from '../support/agent-program.js';
import { ConnectProxy } from '../support/connect-proxy.js';
import { askHttp } from '../support/raw-http.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const DOMAIN = 'demo.example.org';
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-publish-'));
const agents = new AgentPrograms(process.execPath);
let gateway: RunningTunnelGateway;
let site: Server;
let port: number;
let apiKey: string;

beforeAll(async () => {
  gateway = await RunningTunnelGateway.start('password', { TUNNEL_PUBLISH_DOMAIN: DOMAIN });
  apiKey = await gateway.keyOfUser('ann');
  site = createHttpServer((_, response) => response.end('from the site')).listen(0, '127.0.0.1');
  await waitFor(() => site.listening);
  port = (site.address() as AddressInfo).port;
  writeFileSync(path.join(folder, 'note.txt'), 'from the folder');
});
afterEach(() => agents.killAll());
afterAll(async () => {
  site?.close();
  await gateway?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function start(args: readonly string[], key = apiKey): StartedAgent {
  const environment = { GATEHOUSE_GATEWAY: gateway.url, GATEHOUSE_API_KEY: key };
  return agents.start([...args, '--log', 'text'], environment);
}

/** The addresses that the agent has printed. */
async function addresses(agent: StartedAgent, count = 1): Promise<string[]> {
  return waitFor(() => {
    const found = [...agent.output().matchAll(/^ {2}(\S+) leads to /gm)].map(([, address]) => address ?? '');
    return agent.output().includes('Ctrl-C') && found.length === count ? found : undefined;
  });
}

/** What a visitor of a host gets; its name leads nowhere here. */
async function visit(address: string): Promise<string> {
  const { hostname } = new URL(address);
  return waitFor(async () => {
    const { status, body } = await askHttp({ port: gateway.ports.http, host: hostname });
    return status === 200 ? body : undefined;
  });
}

async function leftovers(): Promise<number> {
  const counts = [];
  for (const what of ['clients', 'tunnels', 'hosts']) counts.push((await gateway.call('GET', `/${what}`)).items.length);
  return counts.reduce((total, count) => total + count, 0);
}

describe('one line', () => {
  it('publishes a site under a name of the operator’s domain until Ctrl-C', async () => {
    const agent = start(['http', String(port)]);
    const [address = ''] = await addresses(agent);
    expect(address).toMatch(new RegExp(`^http://[a-z2-9]{10}\\.${DOMAIN}:${gateway.ports.http}/$`));
    expect(await visit(address)).toBe('from the site');
    expect(agent.output()).toMatch(/^ {2}[█▀▄ ]{20,}$/m);
    // The edge may serve the host a moment before it records it.
    await waitFor(async () => {
      await visit(address);
      return /^\d\d:\d\d:\d\d 200 GET \/ [\d.]+ ms 127\.0\.0\.1$/m.test(agent.output());
    });

    agent.child.kill('SIGINT');
    expect(await agent.code).toBe(0);
    expect(await leftovers()).toBe(0);
  });

  it('publishes a site under a name that the user chooses, and leaves names of others alone', async () => {
    const agent = start(['http', `localhost:${port}`, '--name', `shop.${DOMAIN}`]);
    const [address = ''] = await addresses(agent);
    expect(await visit(address)).toBe('from the site');

    const other = start(['http', '1', '--name', `shop.${DOMAIN}`], await gateway.keyOfUser('bob'));
    expect(await other.code).toBe(7);
    expect(other.output()).toContain(`shop.${DOMAIN}`);
    for (const name of ['elsewhere.example', DOMAIN, `a.b.${DOMAIN}`]) {
      const refused = start(['http', String(port), '--name', name]);
      expect(await refused.code).toBe(7);
      expect(refused.output()).toContain(name);
    }
    agent.child.kill('SIGTERM');
    expect(await agent.code).toBe(0);
    expect(await leftovers()).toBe(0);
  });

  it('publishes a port', async () => {
    const agent = start(['tcp', String(port)]);
    const [address = ''] = await addresses(agent);
    const asked = await waitFor(() => askHttp({ port: Number(address.split(':')[1]) }).catch(() => false as const));
    expect(asked && asked.body).toBe('from the site');
    agent.child.kill('SIGINT');
    expect(await agent.code).toBe(0);
    expect(await leftovers()).toBe(0);
  });

  it('publishes a range of ports, each to its own', async () => {
    const first = await reservePorts(3);
    const said = [0, 1, 2].map((distance) => `port ${first + distance}`);
    const servers = said.map((text, at) =>
      createHttpServer((_, answer) => answer.end(text)).listen(first + at, '127.0.0.1'),
    );
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const agent = start(['tcp', `${first}-${first + 2}`]);
    const [address = ''] = await addresses(agent);
    const [, from = 0, to = 0] = /:(\d+)-(\d+)$/.exec(address)?.map(Number) ?? [];
    expect(to - from).toBe(2);
    for (const [at, text] of said.entries()) {
      const asked = await waitFor(() => askHttp({ port: from + at }).catch(() => false as const));
      expect(asked && asked.body).toBe(text);
    }
    agent.child.kill('SIGINT');
    expect(await agent.code).toBe(0);
    for (const server of servers) server.close();
  });

  it('shares a folder, for reading', async () => {
    const agent = start(['share', folder]);
    const [address = ''] = await addresses(agent);
    const shared = Number(new URL(address).port);
    const read = await waitFor(async () => {
      const answer = await askHttp({ port: shared, path: '/note.txt' }).catch(() => null);
      return answer?.status === 200 ? answer : undefined;
    });
    expect(read.body).toBe('from the folder');
    expect((await askHttp({ port: shared, path: '/x.txt', method: 'PUT', body: 'x' })).status).toBeGreaterThanOrEqual(
      400,
    );
    agent.child.kill('SIGINT');
    expect(await agent.code).toBe(0);
  });
});

describe('up', () => {
  it('publishes what the file lists, all of it or nothing, and the gateway removes it after kill -9', async () => {
    const file = path.join(folder, 'gatehouse.yaml');
    const good = ['publish:', `  - http: ${port}`, `    name: up.${DOMAIN}`, `  - tcp: ${port}`, '  - share: .'];
    writeFileSync(file, [...good, '  - tcp: 22', '    port: 1'].join('\n'));
    const refused = start(['up', '--config', file]);
    expect(await refused.code).toBe(7);
    expect(await leftovers()).toBe(0);

    writeFileSync(file, good.join('\n'));
    const agent = start(['up', '--config', file]);
    const [site, , shared] = await addresses(agent, 3);
    expect(await visit(site ?? '')).toBe('from the site');
    expect((await askHttp({ port: Number(new URL(shared ?? '').port), path: '/note.txt' })).body).toBe(
      'from the folder',
    );
    expect(await leftovers()).toBe(4);

    agent.child.kill('SIGKILL');
    await agent.code;
    expect(await leftovers()).toBe(4);
    // Two minutes later.
    await withClient(gateway.database.url, (client) =>
      client.query(`UPDATE tunnel_gateway_ops.client_leases SET until = until - interval '121 seconds'`),
    );
    await waitFor(async () => (await leftovers()) === 0);
  });
});

describe('behind a proxy', () => {
  it('publishes through it: the interface of the gateway and the agent', async () => {
    const { certificate, key } = makeCertificate({ subject: 'console', names: ['console.invalid'], ca: true });
    const authority = path.join(folder, 'authority.pem');
    writeFileSync(authority, certificate);
    const front = createHttpsServer({ cert: certificate, key }, (request, response) => {
      const { url = '', method = '' } = request;
      const { host: _host, ...headers } = request.headers;
      const forwarded = requestHttp(gateway.url + url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    }).listen(0, '127.0.0.1');
    await waitFor(() => front.listening);
    const address = `https://console.invalid:${(front.address() as AddressInfo).port}`;
    const proxy = await ConnectProxy.start();
    try {
      const environment = {
        GATEHOUSE_API_KEY: apiKey,
        NODE_EXTRA_CA_CERTS: authority,
        HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      };
      const agent = agents.start(['http', String(port), '--gateway', address, '--log', 'text'], environment);
      const [site = ''] = await addresses(agent);
      expect(await visit(site)).toBe('from the site');
      expect(new Set(proxy.asked)).toEqual(new Set([new URL(address).host, `127.0.0.1:${gateway.ports.agents}`]));
      agent.child.kill('SIGINT');
      expect(await agent.code).toBe(0);
      expect(await leftovers()).toBe(0);

      proxy.answer = 407;
      const refused = agents.start(['http', String(port), '--gateway', address], environment);
      expect(await refused.code).toBe(7);
      expect(refused.output()).toContain(`the proxy http://127.0.0.1:${proxy.port} asks for a user and a password`);
    } finally {
      front.close();
      await proxy.die();
    }
  });
});

describe('at a terminal, without a key', () => {
  // `script` is what gives it a terminal.
  const hasTerminal = spawnSync('script', ['--version']).status === 0;

  it.skipIf(!hasTerminal)('offers the login, publishes with its key, and says when that has ended', async () => {
    const home = path.join(folder, 'home');
    mkdirSync(home);
    const command = ['exec', process.execPath, AGENT_FILE, 'tcp', port, '--gateway', gateway.url, '--log', 'text'].join(
      ' ',
    );
    const env = { HOME: home, PATH: process.env['PATH'], RUNTIME_DIRECTORY: path.join(home, 'run'), TERM: 'xterm' };
    const terminal = spawn('script', ['-qefc', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    let output = '';
    terminal.stdout.on('data', (part) => (output += String(part)));
    const code = await waitFor(() => /enter the code ([A-Z]{4}-[A-Z]{4})/.exec(output)?.[1]);
    const proof = { current_password: gateway.password };
    await gateway.call('POST', '/auth/device/decide', { user_code: code, approved: true, ...proof });
    await waitFor(() => output.includes('Ctrl-C takes it down'));
    expect(await leftovers()).toBe(2);
    // Ctrl-C.
    terminal.stdin.write('\u0003');
    expect((await once(terminal, 'close'))[0]).toBe(0);
    expect(await leftovers()).toBe(0);

    const [key] = (await gateway.call('GET', '/api-keys?sort=-created_at')).items;
    expect(key.name).toBe(os.hostname());
    await gateway.call('DELETE', `/api-keys/${key.id}`);
    const later = agents.start(['tcp', String(port), '--log', 'text'], { HOME: home });
    expect(await later.code).toBe(3);
    expect(later.output()).toContain(`gatehouse-agent login ${gateway.url}`);
    // What is revoked already is no obstacle.
    expect(await agents.start(['logout'], { HOME: home }).code).toBe(0);
    const none = agents.start(['tcp', String(port), '--gateway', gateway.url], { HOME: home });
    expect(await none.code).toBe(2);
    expect(none.output()).toContain('no API key: gatehouse-agent login, GATEHOUSE_API_KEY or --api-key-file FILE');
  });

  it('keeps the login if the gateway cannot be asked to revoke it, and stops waiting with Ctrl-C', async () => {
    const home = path.join(folder, 'other-home');
    const gateways = path.join(home, '.config/gatehouse-agent/gateways');
    mkdirSync(gateways, { recursive: true });
    const file = path.join(gateways, `${encodeURIComponent('http://127.0.0.1:1')}.json`);
    writeFileSync(file, JSON.stringify({ api_key: 'gtk_kept', username: 'ann' }));
    const logout = agents.start(['logout'], { HOME: home });
    expect(await logout.code).toBe(7);
    expect(logout.output()).toContain(`stays in ${file}`);
    const login = agents.start(['login', gateway.url], { HOME: home });
    await waitFor(() => login.output().includes('Waiting for your approval'));
    login.child.kill('SIGINT');
    expect(await login.code).toBe(0);
    expect(readdirSync(gateways)).toHaveLength(1);
  });
});

describe('without a right to it', () => {
  it('says why and ends', async () => {
    const viewer = start(['http', String(port)], await gateway.keyOfUser('vic', 'viewer'));
    expect(await viewer.code).toBe(7);
    expect(viewer.output()).toContain('nothing was published');
    const unknown = start(['http', String(port)], 'gtk_unknown');
    expect(await unknown.code).toBe(3);
    const nowhere = agents.start(['tcp', '22', '--gateway', 'http://127.0.0.1:1'], { GATEHOUSE_API_KEY: apiKey });
    expect(await nowhere.code).toBe(7);
    expect(nowhere.output()).toContain('127.0.0.1:1');
  });
});
