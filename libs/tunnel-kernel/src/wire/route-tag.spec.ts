import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { agentRouteTag, openingWorker, readRouteTag, routeTagOf, taggedPath, taggedProtocols } from './route-tag.js';
import { TicketTable } from '../session/ticket-table.js';
import { encodeOpening } from './prelude.js';

async function helloOf(protocols: string[]): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, ALPNProtocols: protocols });
  client.on('error', () => undefined);
  const [socket] = await once(server, 'connection');
  const [hello] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.close();
  return hello;
}

describe('the route tag of a connection', () => {
  it('is a part of a hash next to the protocol', async () => {
    const tag = agentRouteTag('ab'.repeat(32));
    expect(tag).toMatch(/^[0-9a-f]{4}$/);
    expect(readRouteTag(await helloOf(taggedProtocols('gwt/1', tag)))).toBe(tag);
    expect(readRouteTag(await helloOf(taggedProtocols('gwv/1', 't1234567')))).toBe('t1234567');
  });

  it('is absent if nobody asked for it, and if it cannot be read', async () => {
    expect(taggedProtocols('gwt/1', undefined)).toEqual(['gwt/1']);
    expect(readRouteTag(await helloOf(['gwt/1']))).toBeNull();
    expect(readRouteTag(await helloOf(['gwt/1', 'gwk/../..']))).toBeNull();
    expect(readRouteTag(Buffer.from('gwk/abcd'))).toBeNull();
  });

  it('is in the query of a WebSocket', () => {
    expect(routeTagOf(taggedPath('/__gw/agent', 'beef'))).toBe('beef');
    expect(routeTagOf(taggedPath('/x?y=1', 't7'))).toBe('t7');
    expect(routeTagOf('/x?y=1')).toBeNull();
    expect(routeTagOf('/x?gwk=%41')).toBeNull();
  });

  it('is the first byte of the tickets of a process', () => {
    const holder = { sealed: false, longRecords: false, admit: () => undefined, expired: () => undefined };
    const tickets = new TicketTable(1000, 7).issue(holder, 3);
    for (const ticket of tickets) expect(openingWorker(encodeOpening(ticket, false))).toBe(7);
    expect(openingWorker(Buffer.from('GW'))).toBeNull();
    expect(openingWorker(Buffer.from('GET / HTTP/1.1'))).toBeNull();
  });
});
