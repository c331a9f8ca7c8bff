/**
 * A channel that carries one visitor after the other, plain and sealed, from both ends: what the other side may say, and
 * what becomes of a channel on which it says something else.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { framed, RawAgent, RawServer, readStart, Records, start, type StartFields } from '../../support/raw-agent.js';
import { TunnelYard } from '../../support/tunnel-yard.js';
import { readToEnd, visit } from '../../support/visitors.js';

let yard: TunnelYard;
beforeEach(async () => {
  yard = await TunnelYard.start({ timeouts: { open: 600 } });
});
afterEach(() => yard.close());

const idle = (): number => yard.server.agents()[0]?.idleChannels ?? 0;

/** The bytes of one end of a channel: frames, or records. */
class Wire {
  readonly socket: Socket;
  readonly records: Records | null;
  /** What came, opened where it was sealed: each chunk may hold several records. */
  #came: Buffer[] = [];
  ended = false;

  constructor(socket: Socket, records: Records | null) {
    this.socket = socket;
    this.records = records;
    socket.on('data', (part: Buffer) => this.#came.push(...(records ? records.open(part) : [part])));
    socket.on('end', () => (this.ended = true));
    socket.on('close', () => (this.ended = true));
  }

  /** A record, or a frame. */
  text(text: string): Buffer {
    return this.records ? this.records.seal(text) : framed(text);
  }

  /** Of neither: the start, a probe, or that the channel is free. */
  bare(bytes: Buffer): Buffer {
    return this.records ? this.records.seal(bytes) : bytes;
  }

  say(...parts: Buffer[]): void {
    this.socket.write(Buffer.concat(parts));
  }

  /** What came until now and was not taken; an end is `.`, in records too. */
  take(): string {
    const came = this.#came.splice(0);
    if (this.records) return came.map((part) => (part.length === 0 ? '.' : part.toString('latin1'))).join('|');
    return Buffer.concat(came).toString('latin1');
  }

  async takes(text: string): Promise<void> {
    let seen = '';
    await waitFor(() => (seen += this.take()) === text || seen.length > text.length);
    expect(seen).toBe(text);
  }

  async start(key: Buffer, before: number): Promise<ReturnType<typeof readStart>> {
    await waitFor(() => this.#came.length > 0);
    return readStart(this.#came.shift() as Buffer, key, before);
  }
}

/** An end, as `take` shows it. */
const end = (encrypt: boolean): string => (encrypt ? '.' : '\0\0\0');
const READY = Buffer.of(0);

describe.each([false, true])('a server that reuses channels, sealed: %s', (encrypt) => {
  const flags = encrypt ? 12 : 6;

  async function served(): Promise<{ agent: RawAgent; key: Buffer; port: number; visitor: Socket; wire: Wire }> {
    const client = yard.client({ encrypt });
    const port = await yard.open(client, [1]);
    const agent = await RawAgent.start(yard.port, client.secret);
    yard.onClose(() => agent.close());
    const ticket = await agent.ticket();
    const channel = await agent.open(ticket, encrypt ? 2 : 1);
    const wire = new Wire(channel, encrypt ? new Records(ticket, 'agent') : null);
    await waitFor(() => idle() === 1);
    const visitor = await visit(port);
    expect(await wire.start(ticket.key, 0)).toMatchObject({ flags, id: 7 });
    return { agent, key: ticket.key, port, visitor, wire };
  }

  /** The visitor says its end, and the agent reads it. */
  async function visitorEnds(visitor: Socket, wire: Wire): Promise<void> {
    visitor.end();
    await wire.takes(end(encrypt));
  }

  it('sends the next visitor when the agent has released the channel, with its own start', async () => {
    const { key, port, visitor, wire } = await served();
    for (let before = 1, last = visitor; before < 4; before++) {
      const answer = readToEnd(last);
      wire.say(wire.text(`answer ${before}`), wire.text(''));
      expect(await answer).toEqual({ text: `answer ${before}`, reset: false });
      await visitorEnds(last, wire);
      expect([idle(), yard.server.flows]).toEqual([0, 1]);
      wire.say(wire.bare(READY));
      await waitFor(() => idle() === 1);
      expect(yard.server.flows).toBe(0);
      last = await visit(port);
      expect(await wire.start(key, before)).toMatchObject({ flags, id: 7 });
      last.write(`question ${before}`);
      await wire.takes(encrypt ? `question ${before}` : String(framed(`question ${before}`)));
    }
  });

  it.each([
    ['says so too early', false, (wire: Wire) => [wire.text(''), wire.bare(READY)]],
    ['says so and goes on', true, (wire: Wire) => [wire.text(''), wire.bare(READY), wire.text('for the next one')]],
    ['says so twice', true, (wire: Wire) => [wire.text(''), wire.bare(READY), wire.bare(READY)]],
    ['says something else', true, (wire: Wire) => [wire.text(''), wire.bare(Buffer.of(7))]],
    ['says it in two', true, (wire: Wire) => [wire.text(''), wire.bare(Buffer.of(0, 0))]],
    ['goes on after its end', true, (wire: Wire) => [wire.text(''), wire.text('x')]],
    ['ends a second time', true, (wire: Wire) => [wire.text(''), wire.text('')]],
  ])('drops the channel when the agent %s', async (_, ended, make) => {
    const { visitor, wire } = await served();
    if (ended) await visitorEnds(visitor, wire);
    wire.say(...make(wire));
    await waitFor(() => wire.ended);
    expect(idle()).toBe(0);
  });

  it('keeps a channel until everything has arrived when the agent closes its transport without reuse', async () => {
    const { visitor, wire } = await served();
    const answer: Buffer[] = [];
    visitor.on('data', (part: Buffer) => answer.push(part));
    wire.say(wire.text('answer'), wire.text(''));
    wire.socket.end();
    await once(visitor, 'end');
    expect(String(Buffer.concat(answer))).toBe('answer');
    visitor.write('the rest');
    visitor.end();
    await waitFor(() => wire.ended && yard.server.flows === 0);
    // A sealed piece is a record.
    expect(wire.take().replaceAll('|', '')).toBe(encrypt ? 'the rest.' : `${String(framed('the rest'))}\0\0\0`);
    expect(idle()).toBe(0);
  });

  it('replaces a channel that breaks between two visitors, unnoticed by visitors', async () => {
    const { agent, visitor, wire, port, key } = await served();
    wire.say(wire.text(''));
    await visitorEnds(visitor.resume(), wire);
    wire.say(wire.bare(READY));
    await waitFor(() => idle() === 1);
    wire.socket.resetAndDestroy();
    await waitFor(() => idle() === 0);
    const ticket = await agent.ticket();
    expect(ticket.key.equals(key)).toBe(false);
    const next = await agent.open(ticket, encrypt ? 2 : 1);
    const after = new Wire(next, encrypt ? new Records(ticket, 'agent') : null);
    await waitFor(() => idle() === 1);
    await visit(port);
    expect(await after.start(ticket.key, 0)).toMatchObject({ flags });
  });

  it.each([
    ['its session ends', (agent: RawAgent) => agent.close()],
    ['the agent leaves', (agent: RawAgent) => agent.send(3, '')],
  ])('closes the channel when %s', async (_, leave) => {
    const { agent, visitor, wire } = await served();
    const answer = readToEnd(visitor);
    wire.say(wire.text(''));
    await answer;
    leave(agent);
    await waitFor(() => yard.server.agents().length === 0);
    await visitorEnds(visitor, wire);
    // Too late, and no failure.
    wire.say(wire.bare(READY));
    await waitFor(() => wire.ended && yard.server.flows === 0);
  });

  if (!encrypt) return;

  it('rejects a record of an earlier visitor in a later one', async () => {
    const { key, port, visitor, wire } = await served();
    const first = wire.text('the first visitor’s');
    wire.say(first, wire.text(''));
    await visitorEnds(visitor.resume(), wire);
    wire.say(wire.bare(READY));
    await waitFor(() => idle() === 1);
    const next = await visit(port);
    const answer = readToEnd(next);
    await wire.start(key, 1);
    wire.say(first);
    expect(await answer).toEqual({ text: '', reset: true });
  });
});

describe.each([false, true])('an agent that reuses channels, sealed: %s', (encrypt) => {
  const flags = encrypt ? 4 : 6;
  let server: RawServer;
  let reached: Socket[];

  beforeEach(async () => {
    server = await RawServer.start(yard.identity);
    yard.onClose(() => server.close());
    reached = [];
    const port = await yard.target((socket) => void reached.push(socket.on('data', () => undefined)));
    yard.agent(yard.client(), {
      server: { host: '127.0.0.1', port: server.port },
      allows: (_, address) => address === '127.0.0.1',
    });
    const targets = [{ host: '127.0.0.1', port, weight: 1 }];
    const tunnel = { proxyProtocol: 0, destinations: [], file: null, entrance: '', mode: 'tcp', targets };
    await server.welcome({ tunnels: [{ ...tunnel, id: 7 }] }, encrypt);
  });

  async function channel(): Promise<{ key: Buffer; wire: Wire; begin: (fields?: Partial<StartFields>) => Buffer }> {
    const ticket = { id: randomBytes(16), key: randomBytes(32) };
    const wire = new Wire(await server.channel(ticket), encrypt ? new Records(ticket, 'server') : null);
    const begin = (fields: Partial<StartFields> = {}): Buffer =>
      wire.bare(start(ticket.key, { id: 7, flags, ...fields }));
    return { key: ticket.key, wire, begin };
  }

  /** One visitor, who ends cleanly; the agent has called the channel free. */
  async function carryOne(wire: Wire, first: Buffer): Promise<void> {
    const before = reached.length;
    wire.say(first, wire.text('hello'), wire.text(''));
    const target = await waitFor(() => reached[before]);
    target.end('target');
    await wire.takes(encrypt ? 'target|.|\0' : `${String(framed('target'))}\0\0\0\0`);
  }

  it('releases a channel, answers probes, and serves the next start', async () => {
    const { wire, begin } = await channel();
    for (let before = 0; before < 4; before++) {
      await carryOne(wire, begin({ before }));
      wire.say(wire.bare(Buffer.alloc(4)));
      await wire.takes('\0');
    }
    await carryLast(wire, begin({ before: 4, flags: encrypt ? 0 : 2 }));
    expect(reached).toHaveLength(5);
  });

  async function carryLast(wire: Wire, first: Buffer): Promise<void> {
    wire.say(first);
    (await waitFor(() => reached[4])).end('last');
    await wire.takes(encrypt ? 'last|.' : `${String(framed('last'))}\0\0\0`);
    // A server of before ends its transport, and so does the agent.
    wire.socket.end(wire.text(''));
    await waitFor(() => wire.ended);
    expect(wire.take()).toBe('');
  }

  it.each<[string, (of: { wire: Wire; begin: (fields?: Partial<StartFields>) => Buffer; first: Buffer }) => Buffer]>([
    ['the same again', ({ first }) => first],
    ['one that was made for the visitor before', ({ begin }) => begin()],
    ['one of a later visitor', ({ begin }) => begin({ before: 2 })],
    ['a frame', ({ wire }) => wire.text('for the target')],
    ['an end', ({ wire }) => wire.text('')],
    ['one of no length', ({ wire }) => wire.bare(Buffer.of(1, 6, 0, 0))],
  ])('refuses %s on a released channel', async (_, make) => {
    const { wire, begin } = await channel();
    const first = begin();
    await carryOne(wire, first);
    wire.socket.end(make({ wire, begin, first }));
    await waitFor(() => wire.ended);
    expect([wire.take(), reached.length]).toEqual(['', 1]);
  });

  it('does not release a channel before the target has read the visitor’s bytes', async () => {
    const { wire, begin } = await channel();
    wire.say(begin());
    const target = await waitFor(() => reached[0]);
    target.pause();
    const bytes = 32 * 1024 * 1024;
    const part = 'x'.repeat(32_000);
    for (let sent = 0; sent < bytes; sent += part.length) wire.say(wire.text(part));
    wire.say(wire.text(''));
    target.end();
    await wire.takes(end(encrypt));
    let came = 0;
    target.on('data', ({ length }) => (came += length));
    target.resume();
    await wire.takes('\0');
    await waitFor(() => came >= bytes);
  });

  it('does not release or reuse the channel of an aborted visitor', async () => {
    const { wire, begin } = await channel();
    wire.say(begin(), wire.text('hello'));
    (await waitFor(() => reached[0])).resetAndDestroy();
    await waitFor(() => wire.ended);
    expect(wire.take()).toBe('');
  });

  it('treats bytes between the end of a visitor and the release as an abort', async () => {
    const { wire, begin } = await channel();
    wire.say(begin(), wire.text(''), wire.text('more'));
    await waitFor(() => wire.ended);
    expect(wire.take()).toBe('');
  });

  it('closes its released channels with the session', async () => {
    const { wire, begin } = await channel();
    await carryOne(wire, begin());
    server.send(0x11, JSON.stringify({ code: 'draining', message: 'another server', retryAfterMs: 60_000 }));
    await waitFor(() => wire.ended);
    expect(wire.take()).toBe('');
  });
});

describe.each([false, true])('server and agent, sealed: %s', (encrypt) => {
  it('keep no channel of an ended session, and reconnect', async () => {
    const client = await yard.member({ encrypt });
    const port = await yard.open(client, [await yard.echo()]);
    const ask = async (): Promise<string> => {
      const visitor = await visit(port);
      const answer = readToEnd(visitor);
      visitor.end('hello');
      return (await answer).text;
    };
    expect([await ask(), await ask()]).toEqual(['hello', 'hello']);
    await waitFor(() => idle() >= 4);
    yard.server.disconnect(client.id);
    await waitFor(() => idle() === 0);
    await yard.online(client);
    await waitFor(() => idle() >= 1);
    expect([await ask(), await ask()]).toEqual(['hello', 'hello']);
  });
});
