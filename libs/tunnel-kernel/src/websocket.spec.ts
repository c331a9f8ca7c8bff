import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { howItEnds, logger, readAll, TunnelRig } from '../test/tunnel-rig.js';
import {
  agentRouteTag,
  createAgentSecret,
  createServerIdentity,
  formatVisitorKey,
  TunnelVisitor,
  type WebSocketAddress,
} from './index.js';

let rig: TunnelRig;
afterEach(() => rig.close());

async function open(...options: ConstructorParameters<typeof TunnelRig>): Promise<void> {
  rig = new TunnelRig(...options);
  await rig.listen();
}

const at = (port: number, secure = false): WebSocketAddress => ({
  secure,
  host: '127.0.0.1',
  port,
  path: '/__gw/agent',
});

async function ask(port: number): Promise<string> {
  const visitor = await rig.visit(port);
  visitor.end('?');
  return String(await readAll(visitor));
}

/** Sends `bytes` through the tunnel's echo and hashes the answer. */
async function there(port: number, bytes: Buffer): Promise<string> {
  const visitor = await rig.visit(port);
  const back = readAll(visitor);
  visitor.end(bytes);
  return createHash('sha256')
    .update(await back)
    .digest('hex');
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe.each([false, true])('an agent over a WebSocket, channels in TLS: %s', (encrypt) => {
  it('serves many visitors at once over one connection', async () => {
    await open();
    const { key } = rig.client(encrypt);
    const line = await rig.line();
    rig.agent(key, { transport: 'websocket', websocket: at(line.port) });
    await rig.online(1);
    expect(rig.server.agents()).toMatchObject([{ via: 'websocket', address: '127.0.0.1' }]);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const all = Array.from({ length: 20 }, async (_, index) => {
      const bytes = randomBytes(300_000 + index);
      expect(await there(port, bytes)).toBe(digest(bytes));
    });
    await Promise.all(all);
    expect(line.accepted).toBe(1);
  });

  it('distinguishes ends and aborts', async () => {
    await open();
    const { key } = rig.client(encrypt);
    rig.agent(key, { transport: 'websocket', websocket: at(rig.port) });
    await rig.online(1);
    const ended = await rig.tunnel(1, [await rig.target((socket) => socket.end('bye'))]);
    expect(String(await readAll(await rig.visit(ended)))).toBe('bye');
    const reset = await rig.tunnel(
      1,
      [await rig.target((socket) => void socket.once('data', () => socket.resetAndDestroy()))],
      {
        id: 8,
      },
    );
    const visitor = await rig.visit(reset);
    visitor.write('x');
    expect(await howItEnds(visitor)).toBe('ECONNRESET');
  });
});

describe('an agent’s connection to the server', () => {
  it('uses a WebSocket if the port for agents cannot be reached, and TCP otherwise', async () => {
    await open();
    const [one, two] = [rig.client(), rig.client()];
    const closed = await rig.unusedPort();
    const auto = { transport: 'auto', websocket: at(rig.port) } as const;
    const { history } = rig.agent(one.key, { ...auto, server: { host: '127.0.0.1', port: closed } });
    rig.agent(two.key, auto);
    await rig.online(1);
    await rig.online(2);
    expect(rig.server.agents().map(({ clientId, via }) => [clientId, via])).toEqual(
      expect.arrayContaining([
        [1, 'websocket'],
        [2, 'tcp'],
      ]),
    );
    await waitFor(() => history.at(-1)?.state === 'online');
    expect(history.map(({ state }) => state)).toEqual(['connecting', 'connecting', 'online']);
  });

  it('does not change to a WebSocket because the server is away for a moment', async () => {
    await open();
    const { key } = rig.client();
    const unused = await rig.unusedPort();
    const { history } = rig.agent(key, { transport: 'auto', websocket: at(unused) });
    await rig.online(1);
    await rig.server.stop();
    await waitFor(() => history.at(-1)?.state === 'waiting');
    await rig.restart();
    await rig.online(1);
    expect(rig.server.agents()).toMatchObject([{ via: 'tcp' }]);
  });

  it('carries nothing if the other end does not have the pinned key, whatever the outer certificate says', async () => {
    await open();
    const stranger = new TunnelRig();
    await stranger.listen();
    try {
      const { history } = rig.agent(rig.client().key, { transport: 'websocket', websocket: at(stranger.port) });
      await waitFor(() => history.at(-1)?.state === 'stopped');
      expect(history.at(-1)).toMatchObject({ reason: { code: 'server_key' } });
    } finally {
      await stranger.close();
    }
  });
});

describe('the ports for visitors of hosts', () => {
  it('also accept agents, in plain text and in TLS', async () => {
    const { certificate, key } = createServerIdentity('gw.example');
    await open({ http: { defaultCertificate: { chain: certificate, key } } });
    const clients = [rig.client(), rig.client(true)];
    const http = await rig.server.listenHttp({ host: '127.0.0.1', port: 0 });
    const https = await rig.server.listenHttps({ host: '127.0.0.1', port: 0 });
    rig.agent(clients[0]!.key, { transport: 'websocket', websocket: at(http) });
    rig.agent(clients[1]!.key, { transport: 'websocket', websocket: at(https, true) });
    await rig.online(1);
    await rig.online(2);
    const echo = await rig.echo();
    for (const { record } of clients)
      expect(await ask(await rig.tunnel(record.id, [echo], { id: record.id }))).toBe('?');
  });
});

describe('a gateway without a certificate', () => {
  it('takes agents over wss under any name, at every port', async () => {
    await open();
    const https = await rig.server.listenHttps({ host: '127.0.0.1', port: 0 });
    const echo = await rig.echo();
    const places = [
      { ...at(rig.port, true), host: 'localhost' },
      at(rig.port, true),
      { ...at(https, true), host: 'localhost' },
      at(https, true),
    ];
    for (const websocket of places) {
      const { key, record } = rig.client(true);
      rig.agent(key, { transport: 'websocket', websocket });
      await rig.online(record.id);
      expect(await ask(await rig.tunnel(record.id, [echo], { id: record.id }))).toBe('?');
    }
    expect(new Set(rig.server.agents().map(({ via }) => via))).toEqual(new Set(['websocket']));
  });

  it('takes visitors of private tunnels the same way', async () => {
    await open();
    const https = await rig.server.listenHttps({ host: '127.0.0.1', port: 0 });
    const key = formatVisitorKey({ tunnelId: 7, secret: createAgentSecret(), fingerprint: rig.identity.fingerprint });
    const server = { host: '127.0.0.1', port: rig.port };
    for (const port of [rig.port, https]) {
      const visitor = new TunnelVisitor({ server, transport: 'websocket', websocket: at(port, true), key, logger });
      // The connection got as far as the check of its key.
      await expect(visitor.probe()).rejects.toMatchObject({ code: 'unauthorized' });
      visitor.stop();
    }
  });

  it('ends TLS handshakes that take too long', async () => {
    await open({ timeouts: { handshake: 100 } });
    const https = await rig.server.listenHttps({ host: '127.0.0.1', port: 0 });
    for (const port of [rig.port, https]) {
      const silent = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
      silent.on('error', () => undefined);
      await once(silent, 'secureConnect');
      await once(silent.resume(), 'close');
    }
    expect(rig.server.agentPort()).toMatchObject({ silent: 0, handshaking: 0, unauthenticated: 0 });
  });
});

describe('a WebSocket that reaches the wrong process of the server', () => {
  const visitorKey = (secret = createAgentSecret()): string =>
    formatVisitorKey({ tunnelId: 7, secret, fingerprint: rig.identity.fingerprint });

  it('is refused: its agent and its visitor report it at once and retry', async () => {
    const own = { tags: new Set<string>() };
    await open({ serves: (tag) => own.tags.has(tag) });
    const { key, record } = rig.client();
    const { history } = rig.agent(key, { transport: 'websocket', websocket: at(rig.port) });
    await waitFor(() => history.filter(({ state }) => state === 'waiting').length === 2);
    expect(history.at(-1)).toMatchObject({ reason: { code: 'misdirected' } });
    const server = { host: '127.0.0.1', port: rig.port };
    const way = { server, transport: 'websocket', websocket: at(rig.port) } as const;
    const visitor = new TunnelVisitor({ ...way, key: visitorKey(), logger });
    await expect(visitor.probe()).rejects.toMatchObject({ code: 'misdirected' });
    own.tags.add(agentRouteTag(record.keyHash)).add('t7');
    await rig.online(record.id);
    await expect(visitor.probe()).rejects.toMatchObject({ code: 'unauthorized' });
    visitor.stop();
  });
});

describe('a WebSocket request', () => {
  async function request(head: string): Promise<string> {
    const socket = connect({ port: rig.port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    socket.write(head);
    return String(await readAll(socket));
  }

  it('is refused if it is not valid', async () => {
    await open();
    expect(await request('GET /other HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await request('GET /__gw/agent HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 426 /);
  });

  it('without a stream is closed', async () => {
    await open({ timeouts: { handshake: 50 } });
    const socket = connect({ port: rig.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const fields = 'Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13';
    const protocol = 'Sec-WebSocket-Protocol: gatehouse-tunnel.1';
    socket.write(`GET /__gw/agent HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n${fields}\r\n${protocol}\r\n\r\n`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /);
    await once(socket, 'close');
  });
});
