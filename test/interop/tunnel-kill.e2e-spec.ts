/** What a kill leaves: the system ends the sockets of a dead process as if it had said so. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { programEnvironment, waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readToEnd, visit } from '../support/visitors.js';
import { TunnelYard } from '../support/tunnel-yard.js';

const PROGRAM = fileURLToPath(new URL('../support/tunnel-process.mjs', import.meta.url));

let yard: TunnelYard;
beforeEach(async () => {
  yard = await TunnelYard.start();
});
afterEach(() => yard.close());

async function start<First>(args: string[]): Promise<{ child: ChildProcess; first: First }> {
  const child = fork(PROGRAM, args, { execArgv: [], env: programEnvironment() });
  yard.onClose(() => child.kill('SIGKILL'));
  const [first] = (await once(child, 'message')) as [First];
  return { child, first };
}

/** Bytes of both directions of all data channels, and nothing else's. */
async function listenedLine(to: number): Promise<{ port: number; received: () => Buffer }> {
  const received: Buffer[] = [];
  const port = await yard.target((near) => {
    const far = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true });
    let isData = false;
    near.once('data', (part: Buffer) => (isData = part[0] === 0x47));
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (part: Buffer) => {
        if (isData) received.push(part);
        other.write(part);
      });
      from.on('end', () => other.end());
      from.on('error', () => other.destroy());
      from.on('close', () => other.destroy());
    }
  });
  return { port, received: () => Buffer.concat(received) };
}

/** What a target says before it says nothing more: the transfer is not over. */
const HALF = 'the first half';

describe.each(['plain', 'sealed'])('a transfer on %s channels', (kind) => {
  it('does not look complete to the visitor if its agent is killed', async () => {
    const client = yard.client({ encrypt: kind === 'sealed' });
    const port = await yard.open(client, [await yard.target((socket) => void socket.write(HALF))]);
    const { child } = await start(['agent', String(yard.port), client.key]);
    await waitFor(() => yard.server.agents().length === 1);
    for (let turn = 0; turn < 3; turn++) {
      const visitor = await visit(port);
      const answer = readToEnd(visitor);
      await once(visitor, 'data');
      if (turn < 2) visitor.destroy();
      else {
        child.kill('SIGKILL');
        expect(await answer).toEqual({ text: HALF, reset: true });
      }
    }
  });

  it('does not look complete to the target if its server is killed', async () => {
    const ends: Promise<{ text: string; reset: boolean }>[] = [];
    const target = await yard.target((socket) => {
      ends.push(readToEnd(socket));
      socket.once('data', () => socket.write(HALF));
    });
    const server = await start<{ door: number; port: number; key: string }>(['server', String(target), kind]);
    const { door, port, key } = server.first;
    await start(['agent', String(door), key]);
    const visitor = await visit(port);
    visitor.write('half of an upload');
    await once(visitor, 'data');
    server.child.kill('SIGKILL');
    expect(await ends[0]).toEqual({ text: 'half of an upload', reset: true });
  });

  it('is complete if both sides ended it, and shows an observer only what it may', async () => {
    const client = yard.client({ encrypt: kind === 'sealed' });
    const line = await listenedLine(yard.port);
    const target = await yard.target((socket) => {
      socket.on('data', () => undefined).on('end', () => socket.end('confidential answer'));
    });
    const port = await yard.open(client, [target]);
    const { child } = await start(['agent', String(line.port), client.key]);
    await waitFor(() => yard.server.agents()[0]?.idleChannels === 4);
    const visitor = await visit(port);
    const answer = readToEnd(visitor);
    visitor.end('confidential question');
    expect(await answer).toEqual({ text: 'confidential answer', reset: false });
    const shown = ['question', 'answer', '127.0.0.1'].filter((text) => line.received().includes(text));
    expect(shown).toEqual(kind === 'plain' ? ['question', 'answer', '127.0.0.1'] : []);
    child.kill('SIGKILL');
  });
});
