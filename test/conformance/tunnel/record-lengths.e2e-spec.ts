/** How long sealed records are: longer ones only for those who take them, and none over the limit. */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawAgent, RawServer, Records, start, type Ticket } from '../../support/raw-agent.js';
import { TunnelYard } from '../../support/tunnel-yard.js';
import { visit } from '../../support/visitors.js';

const COMMON = 32_768;
const LONGEST = 262_144;
const REUSED = 4;
const LONG = 8;
const sent = randomBytes(8 * 1024 * 1024);

let yard: TunnelYard;
beforeEach(async () => {
  yard = await TunnelYard.start();
});
afterEach(() => yard.close());

/** The texts of all records that come, the first one (a start, where the server sends them) included. */
function recordsOf(socket: Socket, records: Records): Buffer[] {
  const texts: Buffer[] = [];
  let rest = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => {
    rest = Buffer.concat([rest, part]);
    while (rest.length >= 3 && rest.length >= 19 + rest.readUIntBE(0, 3)) {
      const end = 19 + rest.readUIntBE(0, 3);
      texts.push(...records.open(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
  });
  return texts;
}

/** Waits for everything that was sent, which is at the end of the texts. */
async function arrives(texts: readonly Buffer[]): Promise<number> {
  await waitFor(() => texts.reduce((sum, text) => sum + text.length, 0) >= sent.length);
  expect(Buffer.concat(texts).subarray(-sent.length).equals(sent)).toBe(true);
  return Math.max(...texts.map((text) => text.length));
}

describe('the records of a server', () => {
  async function longest(more: object): Promise<number> {
    const client = yard.client({ encrypt: true });
    const port = await yard.open(client, [1]);
    const agent = await RawAgent.start(yard.port, client.secret, 'raw', more);
    yard.onClose(() => agent.close());
    const ticket = await agent.ticket();
    const channel = await agent.open(ticket, 2);
    yard.onClose(() => channel.destroy());
    const texts = recordsOf(channel, new Records(ticket, 'agent'));
    await waitFor(() => yard.server.agents()[0]?.idleChannels === 1);
    const visitor = await visit(port);
    visitor.write(sent);
    return arrives(texts);
  }

  it.each([{}, { longRecords: false }])('have at most 32 KiB for an agent that says %o', async (more) => {
    expect(await longest(more)).toBeLessThanOrEqual(COMMON);
  });

  it('are longer, up to 256 KiB, for an agent that takes them', async () => {
    const length = await longest({ longRecords: true });
    expect(length).toBeGreaterThan(COMMON);
    expect(length).toBeLessThanOrEqual(LONGEST);
  });
});

describe('the records of an agent', () => {
  let server: RawServer;
  let reached: Socket[];

  beforeEach(async () => {
    server = await RawServer.start(yard.identity);
    yard.onClose(() => server.close());
    reached = [];
    const port = await yard.target((socket) => void reached.push(socket));
    yard.agent(yard.client(), {
      server: { host: '127.0.0.1', port: server.port },
      allows: (_, address) => address === '127.0.0.1',
    });
    const targets = [{ host: '127.0.0.1', port, weight: 1 }];
    const tunnel = { proxyProtocol: 0, destinations: [], file: null, entrance: '', mode: 'tcp', targets };
    await server.welcome({ tunnels: [{ ...tunnel, id: 7 }] }, true);
  });

  interface Started {
    channel: Socket;
    records: Records;
    target: Socket;
  }

  async function started(flags: number): Promise<Started> {
    const ticket: Ticket = { id: randomBytes(16), key: randomBytes(32) };
    const channel = await server.channel(ticket);
    const records = new Records(ticket, 'server');
    channel.write(records.seal(start(ticket.key, { id: 7, flags })));
    return { channel, records, target: await waitFor(() => reached.pop()) };
  }

  it('says that it takes long ones', () => {
    expect(JSON.parse(String(server.frames(1)[0]))).toMatchObject({ longRecords: true });
  });

  it.each([
    ['at most 32 KiB where the start does not ask for more', REUSED, 1, COMMON],
    ['up to 256 KiB where the start does', REUSED | LONG, COMMON + 1, LONGEST],
  ])('have %s', async (_, flags, least, most) => {
    const { channel, records, target } = await started(flags);
    const texts = recordsOf(channel, records);
    target.write(sent);
    const length = await arrives(texts);
    expect(length).toBeGreaterThanOrEqual(least);
    expect(length).toBeLessThanOrEqual(most);
  });

  it('takes records of 256 KiB, in pieces of any size, and none that are longer', async () => {
    const { channel, records, target } = await started(REUSED);
    let came = 0;
    target.on('data', (part: Buffer) => (came += part.length));
    const record = records.seal(sent.subarray(0, LONGEST));
    for (let at = 0, size = 1; at < record.length; at += size, size = Math.min(2 * size, 70_000)) {
      channel.write(record.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await waitFor(() => came === LONGEST);
    channel.write(records.seal(sent.subarray(0, LONGEST + 1)));
    await waitFor(() => channel.resume().destroyed);
    expect(came).toBe(LONGEST);
  });
});
