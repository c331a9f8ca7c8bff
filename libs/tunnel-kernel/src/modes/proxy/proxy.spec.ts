import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howItEnds, readAll, TunnelRig } from '../../../test/tunnel-rig.js';
import type { TunnelAgentEnvironment, TunnelConfig, TunnelServerEnvironment } from '../../index.js';
import type { VisitorVerifier } from '../../access/visitor-verifier.js';

const run = promisify(execFile);
const denied = {
  allowed: false as const,
  answer: { status: 407, headers: [['proxy-authenticate', 'Basic']] as [string, string][], body: '' },
};
const passed = { allowed: true as const, dropHeaders: [], requestHeaders: [], responseHeaders: [] };
/** Lets in who says `user` and `right`. */
const byPassword: VisitorVerifier = {
  guards: () => true,
  allows: () => false,
  checkPassword: (_, __, user, password) => user === 'user' && password === 'right',
  verify: ({ headers }) =>
    headers['proxy-authorization'] === `Basic ${Buffer.from('user:right').toString('base64')}` ? passed : denied,
};

let rig: TunnelRig;
let origin: Server;
let originPort: number;
let seen: IncomingMessage[];
afterEach(async () => {
  await rig.close();
  origin.closeAllConnections();
  origin.close();
});
beforeEach(async () => {
  seen = [];
  origin = createServer((request, response) => {
    seen.push(request);
    let body = '';
    request.on('data', (part) => (body += String(part)));
    request.on('end', () => response.end(`${request.method} ${request.url} ${body}`));
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  originPort = (origin.address() as AddressInfo).port;
});

async function start(
  mode: TunnelConfig['mode'],
  more: Partial<TunnelConfig> = {},
  server: Partial<TunnelServerEnvironment> = {},
  agent: Partial<TunnelAgentEnvironment> = {},
): Promise<number> {
  rig = new TunnelRig(server);
  await rig.listen();
  rig.agent(rig.client().key, agent);
  await rig.online(1);
  return rig.tunnel(1, [], { mode, ...more });
}

/** What curl printed, or the code it ended with. */
async function curl(...args: string[]): Promise<string> {
  try {
    return (await run('curl', ['-sS', '--max-time', '10', ...args])).stdout;
  } catch (error) {
    return `curl ${(error as { code: number }).code}`;
  }
}

describe.each(['http_proxy', 'mix_proxy'] as const)('mode %s', (mode) => {
  it('carries requests and tunnels of independent clients', async () => {
    const port = await start(mode);
    const proxy = `http://127.0.0.1:${port}`;
    const url = `http://127.0.0.1:${originPort}/a?b=c`;
    expect(await curl('-x', proxy, url)).toBe('GET /a?b=c ');
    expect(await curl('-x', proxy, '-d', 'body', url)).toBe('POST /a?b=c body');
    expect(await curl('-p', '-x', proxy, url)).toBe('GET /a?b=c ');
    expect(seen[0]?.headers.host).toBe(`127.0.0.1:${originPort}`);
    expect(seen[0]?.headers['proxy-connection']).toBeUndefined();
    await waitFor(() => rig.records.length === 3);
  });

  it('serves several requests on one connection, to different origins', async () => {
    const port = await start(mode);
    const url = `http://127.0.0.1:${originPort}`;
    const said = await curl('-x', `http://127.0.0.1:${port}`, '-w', '%{num_connects} ', `${url}/1`, `${url}/2`);
    expect(said).toBe('GET /1 1 GET /2 0 ');
  });

  it('answers invalid requests with an error', async () => {
    const port = await start(mode, { destinations: ['127.0.0.1:1', `127.0.0.1:${originPort}`] });
    const status = (...args: string[]): Promise<string> =>
      curl('-o', '/dev/null', '-w', '%{http_code} %{http_connect}', '-x', `http://127.0.0.1:${port}`, ...args);
    expect(await status('http://127.0.0.1:1/')).toMatch(/^502/);
    expect(await status('http://127.0.0.1:2/')).toMatch(/^403/);
    expect(await status('-p', 'http://127.0.0.1:2/')).toBe('curl 56');
    expect(await curl(`http://127.0.0.1:${port}/`, '-o', '/dev/null', '-w', '%{http_code}')).toBe('400');
  });

  it('answers a client that ends its direction after the request', async () => {
    const port = await start(mode);
    const socket = await rig.visit(port);
    socket.end(`GET http://127.0.0.1:${originPort}/half HTTP/1.1\r\nHost: 127.0.0.1:${originPort}\r\n\r\n`);
    expect(String(await readAll(socket))).toContain('GET /half ');
  });

  it.each([
    ['a target of two hosts', 'GET http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: other.example\r\n\r\n'],
    ['two hosts', 'GET http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: 127.0.0.1:PORT\r\n\r\n'],
    ['a request without a version', 'GET http://127.0.0.1:PORT/\nHost: 127.0.0.1:PORT\nContent-Length: 5\r\n\r\nabcde'],
    [
      'chunks of HTTP/1.0',
      'POST http://127.0.0.1:PORT/ HTTP/1.0\r\nHost: 127.0.0.1:PORT\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'two lengths',
      'POST http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a scheme that it does not speak', 'GET ftp://127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n'],
  ])('does not pass on %s', async (_, text) => {
    const port = await start(mode);
    const socket = await rig.visit(port);
    socket.write(text.replaceAll('PORT', String(originPort)));
    const answer = String(await readAll(socket).catch(() => ''));
    expect(answer).toMatch(/^(HTTP\/1\.1 400|$)/);
    expect(seen).toEqual([]);
  });
});

describe.each(['socks5', 'mix_proxy'] as const)('mode %s', (mode) => {
  it('accepts names and addresses from independent clients', async () => {
    const port = await start(mode);
    const proxy = `127.0.0.1:${port}`;
    expect(await curl('--socks5', proxy, `http://127.0.0.1:${originPort}/x`)).toBe('GET /x ');
    expect(await curl('--socks5-hostname', proxy, `http://localhost:${originPort}/y`)).toBe('GET /y ');
    await waitFor(() => rig.records.length === 2);
    await waitFor(() => rig.agents[0]?.agent.flows === 0);
    expect(rig.agents[0]?.agent.takeDeltas()).toEqual(rig.server.takeDeltas());
  });

  it.each([
    ['what nobody listens at', '127.0.0.1:1', 5],
    ['what the tunnel does not lead to', '127.0.0.2:1', 2],
    ['a name that is none', 'no.such.name.invalid:80', 4],
  ])('reports why it cannot reach %s', async (_, destination, reply) => {
    const port = await start(mode, { destinations: ['127.0.0.1', '*.invalid'] });
    const [host = '', digits] = destination.split(':');
    expect((await socks(port, host, Number(digits))).reply).toBe(reply);
  });

  it('reports that the agent does not allow a destination, for a name by its address', async () => {
    const port = await start(mode, {}, {}, { allows: (_, address) => address === '192.0.2.1' });
    expect((await socks(port, 'localhost', originPort)).reply).toBe(2);
  });

  it('refuses BIND', async () => {
    const port = await start(mode);
    expect((await socks(port, '127.0.0.1', originPort, 2)).reply).toBe(7);
  });

  it('reports failure while no agent is connected', async () => {
    const port = await start(mode);
    await rig.agents[0]?.agent.stop();
    await waitFor(() => rig.server.agents().length === 0);
    expect((await socks(port, '127.0.0.1', originPort)).reply).toBe(1);
  });

  it('asks for a password if the policy requires one', async () => {
    const port = await start(mode, {}, { verifier: byPassword });
    const url = `http://127.0.0.1:${originPort}/`;
    const socks5 = (user: string): Promise<string> => curl('--socks5', `127.0.0.1:${port}`, '-U', user, url);
    expect(await socks5('user:right')).toBe('GET / ');
    expect(await socks5('user:wrong')).toBe('curl 97');
    expect(await curl('--socks5', `127.0.0.1:${port}`, url)).toBe('curl 97');
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['an unfinished greeting', [5, 3, 0]],
    ['an unknown type of address', [5, 1, 0, 5, 1, 0, 9, 1, 2]],
    ['a name that is none', [5, 1, 0, 5, 1, 0, 3, 2, 32, 32, 0, 80]],
    ['port 0', [5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 0]],
  ])('closes the connection after %s', async (_, bytes) => {
    const port = await start(mode);
    const socket = await rig.visit(port);
    socket.end(Buffer.from(bytes));
    const said = await readAll(socket).catch(() => Buffer.alloc(0));
    expect(said.length).toBeLessThanOrEqual(12);
    if (said.length > 3) expect(said[3]).not.toBe(0);
    expect(rig.records).toEqual([]);
  });
});

describe('access to a proxy', () => {
  it('fails only for the visitor if verification is impossible', async () => {
    const failing: VisitorVerifier = { ...byPassword, verify: () => Promise.reject(new Error('no hash can be made')) };
    const port = await start('http_proxy', {}, { verifier: failing });
    for (const head of ['GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n', 'CONNECT a.test:443 HTTP/1.1\r\n\r\n']) {
      const visitor = await rig.visit(port);
      visitor.write(head);
      expect((await readAll(visitor)).toString()).toMatch(/^HTTP\/1\.1 503 /);
    }
  });

  it('depends only on the credentials for the proxy', async () => {
    const port = await start('http_proxy', {}, { verifier: byPassword });
    const proxy = `http://127.0.0.1:${port}`;
    const url = `http://127.0.0.1:${originPort}/`;
    expect(await curl('-x', proxy, '--proxy-user', 'user:right', url)).toBe('GET / ');
    expect(await curl('-p', '-x', proxy, '--proxy-user', 'user:right', url)).toBe('GET / ');
    // The origin's own credentials open nothing here, and reach the origin.
    const own = ['-u', 'user:right', '-o', '/dev/null', '-w', '%{http_code}'];
    expect(await curl('-x', proxy, ...own, url)).toBe('407');
    expect(await curl('-x', proxy, '--proxy-user', 'user:wrong', ...own, url)).toBe('407');
    expect(seen).toHaveLength(2);
    expect(seen[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it('depends on the number of connections', async () => {
    const port = await start('http_proxy');
    const tunnels = [rig.tunnelConfig(1, [], { mode: 'http_proxy', listen: { host: '127.0.0.1', port } })];
    const config = rig.config({ tunnels });
    await rig.server.apply({ ...config, clients: config.clients.map((client) => ({ ...client, maxConnections: 1 })) });
    const held = rig.server.tunnels()[0]!.port;
    const first = await rig.visit(held);
    first.write('x');
    const second = await rig.visit(held);
    second.write('GET http://127.0.0.1/ HTTP/1.1\r\n\r\n');
    expect(String(await readAll(second))).toMatch(/^HTTP\/1\.1 429 [\s\S]*Retry-After: 1/);
    first.destroy();
    await waitFor(
      async () => (await curl('-x', `http://127.0.0.1:${held}`, `http://127.0.0.1:${originPort}/`)) === 'GET / ',
    );
  });

  it('depends on the traffic quota, until there is more', async () => {
    const port = await start('mix_proxy');
    const url = `http://127.0.0.1:${originPort}/`;
    rig.server.setQuotas([{ kind: 'client', id: 1, left: 0 }]);
    const refused = await curl('-x', `http://127.0.0.1:${port}`, '-o', '/dev/null', '-D', '-', url);
    expect(refused).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 60\r\nX-Gw-Error: quota_used_up\r\n/);
    expect((await socks(port, '127.0.0.1', originPort)).reply).not.toBe(0);
    expect(seen).toEqual([]);
    rig.server.setQuotas([]);
    expect(await curl('-x', `http://127.0.0.1:${port}`, url)).toBe('GET / ');
  });

  it('depends on the visitor’s address, and refusals use the visitor’s protocol', async () => {
    const port = await start('mix_proxy');
    const tunnels = [rig.tunnelConfig(1, [], { mode: 'mix_proxy', listen: { host: '127.0.0.1', port: 0 } })];
    const rule = {
      id: 1,
      resourceId: 0,
      type: 'deny' as const,
      kind: 'exact' as const,
      pattern: '127.0.0.1',
      priority: 0,
    };
    expect(port).toBeGreaterThan(0);
    const [state] = await rig.server.apply(rig.config({ tunnels, ipRules: [{ ...rule, scope: 'global' }] }));
    expect((await socks(state!.port, '127.0.0.1', originPort)).reply).toBe(2);
    const url = `http://127.0.0.1:${originPort}/`;
    expect(await curl('-x', `http://127.0.0.1:${state!.port}`, '-o', '/dev/null', '-w', '%{http_code}', url)).toBe(
      '403',
    );
    expect(seen).toEqual([]);
  });

  it('needs the right protocol: mode socks5 has no HTTP, mode http_proxy no SOCKS', async () => {
    const socksPort = await start('socks5');
    const visitor = await rig.visit(socksPort);
    visitor.write('GET http://127.0.0.1/ HTTP/1.1\r\n\r\n');
    expect(await howItEnds(visitor)).toBe('ECONNRESET');
    await rig.close();
    const httpPort = await start('http_proxy');
    const other = await rig.visit(httpPort);
    other.write(Buffer.of(5, 1, 0));
    expect(await howItEnds(other)).toBe('ECONNRESET');
  });
});

/** The reply to a request for a name (RFC 1928), with the socket as it is after. */
async function socks(port: number, host: string, to: number, command = 1): Promise<{ reply: number; socket: Socket }> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(Buffer.of(5, 1, 0));
  await once(socket, 'data');
  socket.write(
    Buffer.concat([Buffer.of(5, command, 0, 3, host.length), Buffer.from(host), Buffer.of(to >> 8, to & 255)]),
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return { reply: answer[1] ?? -1, socket };
}
