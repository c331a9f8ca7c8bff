import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer, isIPv6, type AddressInfo } from 'node:net';

/**
 * Below the ranges from which systems choose ports for outgoing connections (from 32768 on Linux, from 49152 on macOS and
 * Windows): a port in those ranges may not stay free for long.
 */
const FIRST = 20_000;
const END = 32_000;
const TRIES = 20;
const REMEMBERED = 500;

const given = new Set<number>();

/**
 * Returns a TCP port on which nothing listened a moment ago, for a program that cannot choose its port itself. It is drawn
 * at random, so that two processes that ask at the same time get different ones; a process does not get the same port
 * again within 500 calls.
 * @throws Error of the system when `host` is not an address of this machine.
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

/** Opens the port and closes it again. @throws Error of the system when that is not possible. */
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

/** Binds the UDP port and closes it again. @throws Error of the system when that is not possible. */
export function bindOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ port, address: host, exclusive: true }, () => {
      const { port: bound } = socket.address();
      socket.close(() => resolve(bound));
    });
  });
}
