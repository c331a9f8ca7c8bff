import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';

/**
 * Below the ranges from which systems take ports for outgoing connections (32768 and up on Linux, 49152 and up on
 * macOS and Windows): a port that such a connection may take is not free for long.
 */
const FIRST = 20_000;
const END = 32_000;
const TRIES = 20;
const REMEMBERED = 500;

const given = new Set<number>();

/**
 * A TCP port on which nothing listened a moment ago, for a program that cannot choose its port itself. Drawn at
 * random, so that two processes that ask at the same time get different ones; within a process no port is given twice
 * in a row of 500. Rejects with the system's error when `host` is not an address of this machine.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = randomInt(FIRST, END);
    if (given.has(port)) continue;
    given.add(port);
    if (given.size > REMEMBERED) given.delete(given.values().next().value ?? port);
    try {
      return await listenOnce(port, host);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  return listenOnce(0, host);
}

/** Opens the port and closes it again. Rejects with the system's error when that is not possible. */
export function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const { port: opened } = server.address() as AddressInfo;
      server.close(() => resolve(opened));
    });
  });
}
