import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { OwnServiceConnection } from '../interfaces/index.js';
import { OwnServiceClients } from './own-service-clients.js';

let now = 1_000_000;
const clients = new OwnServiceClients(() => now);
const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '::');
const sockets: Socket[] = [];

/** A connection of the kernel, with the addresses as the service sees them. */
async function dial(client: string): Promise<{ socket: Socket; seen: OwnServiceConnection }> {
  if (!server.listening) await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  clients.note(socket, client);
  const [service] = await accepted;
  sockets.push(socket, service);
  const from = { address: service.remoteAddress!, port: service.remotePort! };
  return { socket, seen: { from, to: { address: service.localAddress!, port: service.localPort! }, ageMs: 0 } };
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

describe('OwnServiceClients', () => {
  it('finds the client of a connection, in either notation of its addresses', async () => {
    const [one, two] = [await dial('192.0.2.7'), await dial('2001:db8::1')];
    expect(one.seen.from.address).toBe('::ffff:127.0.0.1');
    expect(clients.find(one.seen)).toBe('192.0.2.7');
    expect(clients.find(two.seen)).toBe('2001:db8::1');
  });

  it('finds no client for connections of others', async () => {
    const { seen } = await dial('192.0.2.7');
    expect(clients.find({ ...seen, from: { ...seen.from, port: 1 } })).toBeNull();
    expect(clients.find({ ...seen, from: { ...seen.from, address: '127.0.0.2' } })).toBeNull();
    expect(clients.find({ ...seen, to: { ...seen.to, port: 1 } })).toBeNull();
  });

  it('finds a client that has left, and not for a later user of its port', async () => {
    const { socket, seen } = await dial('192.0.2.7');
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    expect(clients.find(seen)).toBe('192.0.2.7');
    now += 10_000;
    expect(clients.find({ ...seen, ageMs: 10_000 })).toBe('192.0.2.7');
    expect(clients.find({ ...seen, ageMs: 5_000 })).toBeNull();
    now += 60_000;
    const other = await dial('192.0.2.8');
    other.socket.destroy();
    await once(other.socket, 'close');
    expect(clients.find({ ...seen, ageMs: 1_000_000 })).toBeNull();
  });
});
