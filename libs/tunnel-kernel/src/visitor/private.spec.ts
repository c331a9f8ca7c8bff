import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { waitFor } from '@gatehouse/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howItEnds, readAll, TunnelRig } from '../../test/tunnel-rig.js';
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  formatVisitorKey,
  parseVisitorKey,
  TunnelVisitor,
  type TunnelConfig,
  type TunnelError,
} from '../index.js';

let rig: TunnelRig;
let secret: string;
const visitors: TunnelVisitor[] = [];
beforeEach(async () => {
  secret = createAgentSecret();
  rig = new TunnelRig();
  await rig.listen();
});
afterEach(async () => {
  for (const visitor of visitors.splice(0)) visitor.stop();
  await rig.close();
});

const keyOf = (tunnelId = 7, said = secret): string =>
  formatVisitorKey({ tunnelId, secret: said, fingerprint: rig.identity.fingerprint });
const isPrivate = (mode: 'secret' | 'p2p' = 'secret'): Partial<TunnelConfig> => ({
  mode,
  visitorKeyHash: agentKeyHash(secret),
});
const quiet = (): void => undefined;

function visitor(key = keyOf()): { visitor: TunnelVisitor; warnings: unknown[] } {
  const warnings: unknown[] = [];
  const logger = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (_: string, fields?: object) => warnings.push(fields),
  };
  // Through the server: direct paths have tests of their own.
  const server = { host: '127.0.0.1', port: rig.port };
  const made = new TunnelVisitor({ server, transport: 'raw', key, logger, p2p: false });
  visitors.push(made);
  return { visitor: made, warnings };
}

async function open(key?: string): Promise<{ port: number; warnings: unknown[] }> {
  const { visitor: made, warnings } = visitor(key);
  return { port: await made.listen({ host: '127.0.0.1', port: 0 }), warnings };
}

const refusalOf = async (key?: string): Promise<string> =>
  visitor(key)
    .visitor.probe()
    .then(
      () => 'welcome',
      (error: TunnelError) => error.code,
    );

describe.each(['secret', 'p2p'] as const)('mode %s', (mode) => {
  it('has no port of its own, and connects visitors with the key to the target', async () => {
    const target = await rig.target((socket) => {
      let question = '';
      socket.on('data', (part) => (question += String(part)));
      socket.on('end', () => socket.end(`answer to ${question}`));
    });
    const { agent } = rig.agent(rig.client(true).key);
    await rig.online(1);
    expect(await rig.tunnel(1, [target], isPrivate(mode))).toBe(0);
    expect(rig.server.tunnels()).toMatchObject([{ id: 7, state: 'running', port: 0, error: null }]);
    const { port } = await open();
    const socket = await rig.visit(port);
    socket.end('the question');
    expect(String(await readAll(socket))).toBe('answer to the question');
    await waitFor(() => rig.records.length === 1 && agent.flows === 0);
    expect(rig.server.takeDeltas()).toMatchObject([{ upload: 12, download: 22, connections: 1 }]);
    expect(agent.takeDeltas()).toMatchObject([{ upload: 12, download: 22, connections: 1 }]);
  });
});

describe('visitors of a secret tunnel', () => {
  it('see the abort of a target, and their own abort reaches the target', async () => {
    const ends: Promise<string>[] = [];
    const target = await rig.target((socket) => {
      ends.push(howItEnds(socket));
      socket.once('data', (part) => String(part) === 'abort' && socket.resetAndDestroy());
    });
    rig.agent(rig.client().key);
    await rig.online(1);
    await rig.tunnel(1, [target], isPrivate());
    const { port } = await open();
    const first = await rig.visit(port);
    first.write('abort');
    expect(await howItEnds(first)).toBe('ECONNRESET');
    const second = await rig.visit(port);
    second.write('stay');
    await waitFor(() => ends.length === 2);
    second.resetAndDestroy();
    expect(await ends[1]).toBe('ECONNRESET');
  });

  it('get the same refusal with a wrong key, for another tunnel and for one without a key', async () => {
    rig.agent(rig.client().key);
    await rig.online(1);
    await rig.server.apply(
      rig.config({
        tunnels: [
          rig.tunnelConfig(1, [await rig.echo()], isPrivate()),
          rig.tunnelConfig(1, [1], { id: 8, mode: 'secret' }),
          rig.tunnelConfig(1, [1], { id: 9, visitorKeyHash: agentKeyHash(secret) }),
        ],
      }),
    );
    expect(await refusalOf()).toBe('welcome');
    expect(await refusalOf(keyOf(7, createAgentSecret()))).toBe('unauthorized');
    for (const tunnel of [8, 9, 99]) expect(await refusalOf(keyOf(tunnel))).toBe('unauthorized');
    const { port, warnings } = await open(keyOf(99));
    expect(await howItEnds(rig.visitor(port))).toBe('ECONNRESET');
    expect(warnings).toMatchObject([{ code: 'unauthorized' }]);
  });

  it('are admitted with the right key, however many wrong ones came from their address', async () => {
    rig.agent(rig.client().key);
    await rig.online(1);
    await rig.tunnel(1, [await rig.echo()], isPrivate());
    const refused: string[] = [];
    const refuse = async (): Promise<unknown> => refused.push(await refusalOf(keyOf(99)));
    for (let attempt = 0; attempt < 10; attempt++) await refuse();
    const late = refuse();
    expect(await refusalOf()).toBe('welcome');
    expect(refused).toHaveLength(10);
    for (const one of visitors.splice(0)) one.stop();
    await rig.server.stop();
    await late;
  });

  it('send nothing to a server with another key', async () => {
    rig.client();
    const fingerprint = createServerIdentity().fingerprint;
    expect(await refusalOf(formatVisitorKey({ tunnelId: 7, secret, fingerprint }))).toBe('server_key');
  });

  it('get the reason when they are refused', async () => {
    const client = rig.client();
    await rig.tunnel(1, [1], isPrivate());
    expect(await refusalOf()).toBe('offline');
    rig.agent(client.key);
    await rig.online(1);
    const config = rig.config({ tunnels: [rig.tunnelConfig(1, [await rig.echo()], isPrivate())] });
    await rig.server.apply({ ...config, clients: config.clients.map((one) => ({ ...one, maxConnections: 1 })) });
    const { port } = await open();
    const held = await rig.visit(port);
    held.write('x');
    await once(held, 'data');
    expect(await refusalOf()).toBe('overloaded');
    const ended = howItEnds(held);
    await rig.server.apply({ ...config, clients: config.clients.map((one) => ({ ...one, enabled: false })) });
    expect(await ended).toBe('ECONNRESET');
    // As if there were no such tunnel.
    expect(await refusalOf()).toBe('unauthorized');
  });

  it('are disconnected when the tunnel is deleted', async () => {
    rig.agent(rig.client().key);
    await rig.online(1);
    await rig.tunnel(1, [await rig.echo()], isPrivate());
    expect(await refusalOf()).toBe('welcome');
    await rig.server.apply(rig.config({}));
    expect(await refusalOf()).toBe('unauthorized');
  });

  it('that send anything else are disconnected without an answer', async () => {
    rig.client();
    const socket = connectTls({
      port: rig.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: ['gwv/1'],
    });
    await once(socket, 'secureConnect');
    socket.write(Buffer.alloc(100, 0xff));
    const said = await readAll(socket).catch(() => Buffer.alloc(0));
    expect(said).toHaveLength(0);
  });
});

describe("a visitor's key", () => {
  it('can be read back', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (tunnelId) => {
        const key = { tunnelId, secret, fingerprint: rig.identity.fingerprint };
        expect(parseVisitorKey(formatVisitorKey(key))).toEqual(key);
      }),
    );
  });

  it.each(['', 'gtv1', 'gtk1.a.b', 'gtv1.x.y.z', 'gtv1.-1.a.b'])('cannot be "%s"', (text) => {
    expect(() => parseVisitorKey(text)).toThrow("not a visitor's key");
  });
});
