import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listenTcp } from './listen.js';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const quiet = (): void => undefined;

const servers: Server[] = [];
function newServer(): Server {
  const server = createServer((socket) => socket.on('error', quiet).destroy());
  servers.push(server);
  return server;
}
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('listenTcp', () => {
  it('returns the bound port', async () => {
    const server = newServer();
    const port = await listenTcp(server, LOOPBACK, quiet);
    const visitor = connect({ host: '127.0.0.1', port });
    await once(visitor, 'connect');
    visitor.destroy();
  });

  it('can listen again after the port was taken, without listeners of the first attempt', async () => {
    const port = await listenTcp(newServer(), LOOPBACK, quiet);
    const server = newServer();
    const failures: Error[] = [];
    const place = { host: '127.0.0.1', port };
    await expect(listenTcp(server, place, (error) => failures.push(error))).rejects.toThrow('EADDRINUSE');
    expect(['error', 'listening'].map((event) => server.listenerCount(event))).toEqual([0, 0]);
    await listenTcp(server, LOOPBACK, (error) => failures.push(error));
    expect(failures).toEqual([]);
    expect(['error', 'listening'].map((event) => server.listenerCount(event))).toEqual([1, 0]);
  });

  it('can listen again after a close, and reports each failure once', async () => {
    const server = newServer();
    const failures: Error[] = [];
    for (let times = 0; times < 3; times++) {
      await listenTcp(server, LOOPBACK, (error) => failures.push(error));
      server.emit('error', new Error('accept EMFILE'));
      await new Promise((resolve) => server.close(resolve));
    }
    expect(failures).toHaveLength(3);
    expect(['error', 'listening', 'close'].map((event) => server.listenerCount(event))).toEqual([0, 0, 0]);
  });

  it('reports connections that could not be accepted', async () => {
    const server = newServer();
    const failures: Error[] = [];
    await listenTcp(server, LOOPBACK, (error) => failures.push(error));
    const error = new Error('accept EMFILE');
    server.emit('error', error);
    expect(failures).toEqual([error]);
  });
});
