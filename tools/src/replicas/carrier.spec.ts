import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { Carrier } from './carrier.js';
import { CommitWatch } from './commit-watch.js';
import { MessageReader, type PostgresMessage } from './postgres-messages.js';

interface Talker {
  socket: Socket;
  received: () => string;
}

async function talkTo(port: number): Promise<Talker> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, received: () => text };
}

describe('Carrier', () => {
  it('holds what is said while it is frozen, and carries it afterwards', async () => {
    await using echo = await startTcpEcho();
    await using carrier = await Carrier.start(echo);
    const [one, other] = [await talkTo(carrier.port), await talkTo(echo.port)];
    one.socket.write('before');
    await waitFor(() => one.received() === 'before');
    carrier.freeze();
    one.socket.write(' during');
    // The echo answers others meanwhile.
    other.socket.write('direct');
    await waitFor(() => other.received() === 'direct');
    expect(one.received()).toBe('before');
    carrier.thaw();
    await waitFor(() => one.received() === 'before during');
    for (const { socket } of [one, other]) socket.destroy();
  });

  it('never carries a forgotten connection again, and does not end it', async () => {
    await using echo = await startTcpEcho();
    await using carrier = await Carrier.start(echo);
    const one = await talkTo(carrier.port);
    one.socket.write('1');
    await waitFor(() => one.received() === '1');
    expect(carrier.forget()).toBe(1);
    one.socket.write('2');
    const next = await talkTo(carrier.port);
    next.socket.write('3');
    await waitFor(() => next.received() === '3');
    expect(one.received()).toBe('1');
    expect(one.socket.destroyed).toBe(false);
    for (const { socket } of [one, next]) socket.destroy();
  });
});

describe('a Carrier whose client has said everything', () => {
  it('still carries the answer', async () => {
    // The echo answers after the end, as a server does that reads a request until then.
    await using echo = await startTcpEcho();
    await using carrier = await Carrier.start(echo, undefined, { host: '127.0.0.2', port: 0 });
    const socket = connect({ port: carrier.port, host: '127.0.0.2', allowHalfOpen: true });
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    const said = Buffer.alloc(1_000_000, 'x');
    socket.end(said);
    await once(socket, 'end');
    expect(Buffer.concat(parts).length).toBe(said.length);
  });
});

const message = (type: string, body: string): PostgresMessage => {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(type);
  bytes.writeInt32BE(4 + body.length, 1);
  bytes.write(body, 5);
  return { type, bytes };
};

describe('what a client of PostgreSQL says', () => {
  it('is cut into messages, wherever the chunks end', () => {
    const startup = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]);
    const stream = Buffer.concat([startup, message('Q', 'SELECT 1\0').bytes, message('S', '').bytes]);
    for (let size = 1; size <= stream.length; size += 1) {
      const reader = new MessageReader(true);
      const found: string[] = [];
      for (let from = 0; from < stream.length; from += size) {
        found.push(...reader.read(stream.subarray(from, from + size)).map(({ type }) => type));
      }
      expect(found).toEqual(['', 'Q', 'S']);
    }
  });

  it('commits with COMMIT after a write, or with a write of its own', () => {
    const watch = new CommitWatch();
    const say = (sql: string): string | undefined => watch.fromClient(message('Q', `${sql}\0`))?.wrote;
    const inTransaction = (state: 'I' | 'T'): void => watch.fromServer(message('Z', state));
    expect(say('INSERT INTO "a"."b" VALUES (1)')).toBe('INSERT INTO a.b');
    expect(say('SELECT now()')).toBeUndefined();
    expect(say('START TRANSACTION')).toBeUndefined();
    inTransaction('T');
    expect(say('UPDATE nodes SET x = 1')).toBeUndefined();
    expect(say('COMMIT')).toBe('UPDATE nodes');
    inTransaction('I');
    expect(say('BEGIN')).toBeUndefined();
    inTransaction('T');
    expect(say('SELECT 1')).toBeUndefined();
    expect(say('COMMIT')).toBeUndefined();
  });

  it('commits with what it prepared', () => {
    const watch = new CommitWatch();
    expect(watch.fromClient(message('P', 'name\0DELETE FROM t\0\0\0'))).toBeUndefined();
    expect(watch.fromClient(message('B', '\0name\0'))).toBeUndefined();
    expect(watch.fromClient(message('E', '\0\0\0\0\0'))).toEqual({ wrote: 'DELETE FROM t' });
  });
});
