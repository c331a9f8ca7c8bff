import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createServerIdentity, type ServerIdentity } from '../wire/server-identity.js';
import { acceptTls } from './accept-tls.js';
import { PinnedServer, TlsMemory } from './pinned-tls.js';
import { ServerIdentities } from './server-identities.js';

const PROTOCOL = 'gwt/1';
const HOUR_MS = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const identity = createServerIdentity();
const next = createServerIdentity();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Edge {
  identity: ServerIdentity;
  nextFingerprint?: string;
  formerIdentity?: ServerIdentity & { until: number };
  now: () => number;
}

/** The port of a server that completes handshakes. */
async function edge(options: Partial<Edge> = {}): Promise<number> {
  const identities = new ServerIdentities({ identity, now: () => start, ...options });
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined);
    acceptTls(socket, identities.context, {
      protocols: [PROTOCOL],
      contextFor: (stream, offered) => identities.contextFor(stream, offered),
      onError: () => undefined,
    }).resume();
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Connects, and disconnects once a new session's ticket is there. Whether an earlier session was resumed. */
async function isResumed(port: number, memory: TlsMemory, pins = [identity.fingerprint]): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const stream = await new PinnedServer(pins, undefined, memory).secure(socket, PROTOCOL, 5_000);
  stream.resume();
  const resumed = stream.isSessionReused();
  // Only a full handshake is followed by tickets.
  if (!resumed) await once(stream, 'session');
  stream.destroy();
  return resumed;
}

describe('a TLS session', () => {
  it('is resumed at another server with the same key, and after an hour', async () => {
    const memory = new TlsMemory();
    expect(await isResumed(await edge(), memory)).toBe(false);
    expect(await isResumed(await edge(), memory)).toBe(true);
    expect(await isResumed(await edge({ now: () => start + HOUR_MS }), memory)).toBe(true);
  });

  it('is not resumed in another period, so that the server shows its key at least twice a day', async () => {
    const memory = new TlsMemory();
    let now = start;
    const port = await edge({ now: () => now });
    expect(await isResumed(port, memory)).toBe(false);
    expect(await isResumed(port, memory)).toBe(true);
    now += 12 * HOUR_MS;
    expect(await isResumed(port, memory)).toBe(false);
    expect(await isResumed(port, memory)).toBe(true);
  });

  it.each([
    ['announces its next key', { nextFingerprint: next.fingerprint }],
    ['has another key', { identity: next, formerIdentity: { ...identity, until: start + HOUR_MS } }],
    ['still shows a former key', { formerIdentity: { ...next, until: start + HOUR_MS } }],
  ])('is not resumed at a server that %s', async (_, options) => {
    const memory = new TlsMemory();
    const pins = [identity.fingerprint, next.fingerprint];
    expect(await isResumed(await edge(), memory, pins)).toBe(false);
    expect(await isResumed(await edge(options), memory, pins)).toBe(false);
  });
});
