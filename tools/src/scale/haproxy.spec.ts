import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { freePort } from '@gatehouse/net';
import { peerOrSkip, waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { ROOT } from '../../bootstrap/layout.mjs';
import { NameServer } from './name-server.js';

const CONFIG = path.join(ROOT, 'deploy/haproxy/haproxy.cfg');
const PORT = 8081;

interface Copy extends AsyncDisposable {
  ready: boolean;
}

/** A copy of a service: says its address to whoever asks, and whether it is ready. */
async function startCopy(address: string, port: number): Promise<Copy> {
  const server: Server = createServer(({ url }, response) => {
    response.statusCode = url === '/readyz' && !copy.ready ? 503 : 200;
    response.end(address);
  }).listen(port, address);
  await once(server, 'listening');
  const copy: Copy = {
    ready: true,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return copy;
}

it('haproxy leaves out a copy that is not ready, and uses all of them where none is', async (context) => {
  const program = peerOrSkip('haproxy') ?? context.skip('haproxy is not installed: npm run peers');
  // An address of its own, on which all ports are free.
  const block = `127.${randomInt(64, 250)}.${randomInt(1, 250)}`;
  const [own, one, two] = [`${block}.1`, `${block}.2`, `${block}.3`];
  const port = await freePort();
  await using first = await startCopy(one, port);
  await using second = await startCopy(two, port);
  await using names = await NameServer.start(own, new Map([['resource-sharing', [one, two]]]));
  const env = {
    PATH: process.env['PATH'],
    LISTEN_ADDRESS: own,
    CHANNEL_ADDRESS: own,
    NAME_SERVER: `${names.address}:${names.port}`,
    RESOURCE_SHARING_COPY_PORT: String(port),
    MAX_CONNECTIONS: '100',
  };
  const haproxy = spawn(program, ['-db', '-f', CONFIG], { env, stdio: 'ignore' });
  try {
    const ask = async (): Promise<string> => {
      const answer = await fetch(`http://${own}:${PORT}/`, { headers: { connection: 'close' } });
      return answer.status === 200 ? answer.text() : `status ${answer.status}`;
    };
    const who = async (): Promise<string[]> =>
      [...new Set(await Promise.all(Array.from({ length: 8 }, () => ask().catch(String))))].toSorted();
    await waitFor(async () => (await who()).join() === [one, two].join());
    first.ready = false;
    await waitFor(async () => (await who()).join() === two);
    second.ready = false;
    // The last check of one is not that of the other: only what holds from then on counts.
    await waitFor(async () => (await who()).join() === [one, two].join());
    first.ready = true;
    await waitFor(async () => (await who()).join() === one);
    expect(await who()).toEqual([one]);
  } finally {
    haproxy.kill('SIGKILL');
    await once(haproxy, 'exit');
  }
});
