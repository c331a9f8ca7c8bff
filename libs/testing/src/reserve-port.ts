import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { listenOnce } from '@gatehouse/net';

/** Below the ports that the platform chooses itself (20000 and up), and those of outgoing connections. */
const FIRST = 10_000;
const BLOCKS = 500;
const BLOCK_SIZE = 20;
const HOST = '127.0.0.1';
const TRIES = 200;

let next = 0;
let end = 0;

/**
 * A port for a program that cannot choose one itself. It stays free until that program listens, and while it starts again:
 * a process that asks has a block of ports, and listens on the first one of the block as long as it runs, so that no other
 * process of tests takes from it.
 */
export async function reservePort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    if (next === end) await takeBlock();
    const port = next++;
    // A program that has nothing to do with tests may have it.
    if (await isFree(port)) return port;
  }
  throw new Error(`There is no free port from ${FIRST} to ${FIRST + BLOCKS * BLOCK_SIZE}.`);
}

/** The first of that many ports in a row, each as with `reservePort`. */
export async function reservePorts(count: number): Promise<number> {
  if (count >= BLOCK_SIZE) throw new Error(`A block has ${BLOCK_SIZE - 1} ports.`);
  let [first, length] = [await reservePort(), 1];
  for (let tried = 0; tried < TRIES && length < count; tried++) {
    const port = await reservePort();
    [first, length] = port === first + length ? [first, length + 1] : [port, 1];
  }
  if (length < count) throw new Error(`There are no ${count} free ports in a row.`);
  return first;
}

async function takeBlock(): Promise<void> {
  for (let tried = 0; tried < TRIES; tried++) {
    const first = FIRST + randomInt(BLOCKS) * BLOCK_SIZE;
    if (!(await hold(first))) continue;
    [next, end] = [first + 1, first + BLOCK_SIZE];
    return;
  }
  throw new Error('Every block of ports for tests is taken.');
}

/** Listens until the process ends. */
function hold(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(false));
    server.listen({ port, host: HOST, exclusive: true }, () => resolve(true)).unref();
  });
}

async function isFree(port: number): Promise<boolean> {
  try {
    return (await listenOnce(port, HOST)) === port;
  } catch {
    return false;
  }
}
