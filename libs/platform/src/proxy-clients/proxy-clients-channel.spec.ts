import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveControlKey, dialControl, type ControlEndpoint, type ControlLink } from '@gatehouse/net';
import { afterEach, describe, expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { proxyClientsKey } from './clients-channel.js';
import type { AcceptedConnection, ProxyClients } from './proxy-clients.js';
import { ProxyClientsServer } from './proxy-clients-server.js';
import { RemoteProxyClients } from './remote-proxy-clients.js';

const SECRET = randomBytes(32);
const CONNECTION: AcceptedConnection = {
  from: { address: '127.0.0.1', port: 40_000 },
  to: { address: '127.0.0.1', port: 8081 },
  ageMs: 3,
};
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Stands in for the kernel. */
class FakeClients implements ProxyClients {
  kernelAddresses: ReadonlySet<string> | null = new Set(['198.51.100.4']);
  answer: string | null | Error | Promise<never> = '192.0.2.7';
  asked: AcceptedConnection[] = [];

  async clientOf(connection: AcceptedConnection): Promise<string | null> {
    this.asked.push(connection);
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  }
}

function logger(lines: string[] = []): JsonLogger {
  return new JsonLogger({ service: 'test', level: 'debug', write: (line) => void lines.push(line) });
}

function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-clients-'));
  endings.push(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'home', 'clients.sock');
}

async function answering(
  endpoint: ControlEndpoint = { host: '127.0.0.1', port: 0 },
  secretKeys: readonly Buffer[] = [SECRET],
): Promise<{ clients: FakeClients; server: ProxyClientsServer; endpoint: ControlEndpoint }> {
  const clients = new FakeClients();
  const server = new ProxyClientsServer({ clients, secretKeys, logger: logger() });
  endings.push(() => server.close());
  return { clients, server, endpoint: await server.listen(endpoint) };
}

function asking(
  endpoint: ControlEndpoint,
  secretKeys: readonly Buffer[] = [SECRET],
  lines: string[] = [],
): RemoteProxyClients {
  const remote = new RemoteProxyClients({ endpoint, secretKeys, logger: logger(lines), retryMs: [20] });
  endings.push(() => remote.onApplicationShutdown());
  remote.onModuleInit();
  return remote;
}

/** What it answers once it has a connection. */
async function answered(remote: RemoteProxyClients, wanted: string | null): Promise<void> {
  await expect.poll(() => remote.clientOf(CONNECTION).catch(() => 'none'), { timeout: 10_000 }).toBe(wanted);
}

describe('the lookup of a client behind the proxy', () => {
  it('returns the client of one connection, and the addresses from which the kernel connects', async () => {
    const path = socketPath();
    const { clients, server, endpoint } = await answering({ path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const remote = asking(endpoint);
    await answered(remote, '192.0.2.7');
    expect(clients.asked[0]).toEqual(CONNECTION);
    expect(remote.kernelAddresses).toEqual(new Set(['198.51.100.4']));
    clients.answer = null;
    expect(await remote.clientOf(CONNECTION)).toBeNull();
    clients.answer = new Error('The kernel does not answer.');
    await expect(remote.clientOf(CONNECTION)).rejects.toThrow('The kernel does not answer.');
    clients.kernelAddresses = null;
    server.announce();
    await expect.poll(() => remote.kernelAddresses).toBeNull();
  });

  it('needs the secret key, an older one included, and has only a client as its answer', async () => {
    const older = randomBytes(32);
    const { clients, endpoint } = await answering(undefined, [SECRET, older]);
    await answered(asking(endpoint, [older]), '192.0.2.7');
    await answered(asking(endpoint, [randomBytes(32), older]), '192.0.2.7');
    for (const key of [proxyClientsKey(randomBytes(32)), deriveControlKey(SECRET, 'proxy-kernel')]) {
      await expect(dialControl({ endpoint, key })).rejects.toThrow(/secret key/);
    }
    clients.answer = 'not an address';
    await expect(asking(endpoint).clientOf(CONNECTION)).rejects.toThrow();
  });

  it.each([
    ['another method', { type: 'connections', id: 1 }],
    ['no connection', { type: 'clientOf', id: 1 }],
    [
      'a name for an address',
      { type: 'clientOf', id: 1, connection: { ...CONNECTION, to: { address: 'a', port: 1 } } },
    ],
    [
      'a port that is none',
      { type: 'clientOf', id: 1, connection: { ...CONNECTION, to: { address: '::1', port: 0 } } },
    ],
    ['no age', { type: 'clientOf', id: 1, connection: { ...CONNECTION, ageMs: null } }],
    ['nothing', null],
  ])('ends a connection that sends %s', async (_what, message) => {
    const { clients, endpoint } = await answering();
    const link = await dialControl({ endpoint, key: proxyClientsKey(SECRET) });
    endings.push(() => link.close());
    const closed = new Promise<void>((resolve) => link.onClose(() => resolve()));
    await link.send(message);
    await closed;
    expect(clients.asked).toEqual([]);
  });

  it('ends a connection with more lookups than can be answered', async () => {
    const { clients, endpoint } = await answering();
    clients.answer = new Promise<never>(() => undefined);
    const link: ControlLink = await dialControl({ endpoint, key: proxyClientsKey(SECRET) });
    endings.push(() => link.close());
    const closed = new Promise<void>((resolve) => link.onClose(() => resolve()));
    for (let id = 0; id < 300; id += 1) {
      await link.send({ type: 'clientOf', id, connection: CONNECTION }).catch(() => undefined);
    }
    await closed;
    expect(clients.asked).toHaveLength(256);
  });

  it('fails at once while proxy-gateway is away, reports it once, and works again when it is back', async () => {
    const lines: string[] = [];
    const endpoint = { path: socketPath() };
    const remote = asking(endpoint, [SECRET], lines);
    await expect(remote.clientOf(CONNECTION)).rejects.toThrow('proxy-gateway cannot be reached');
    await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(1);
    expect(lines[0]).toContain('cannot be asked who comes through the proxy');
    const { server } = await answering(endpoint);
    await answered(remote, '192.0.2.7');
    await server.close();
    await expect(remote.clientOf(CONNECTION)).rejects.toThrow();
    expect(lines.filter((line) => line.includes('"level":"warn"'))).toHaveLength(1);
  }, 30_000);
});
