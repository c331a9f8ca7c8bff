import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { DialedSocket } from './dialed-socket.js';
import { releaseListenersOnClose } from './release-listeners.js';

async function connected(): Promise<{ accepted: Socket; dialed: DialedSocket; port: number; stop: () => void }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dialed = new DialedSocket();
  dialed.connectTo('127.0.0.1', port);
  const [[accepted]] = (await Promise.all([once(server, 'connection'), once(dialed, 'connect')])) as [
    [Socket],
    unknown,
  ];
  return { accepted, dialed, port, stop: () => server.close() };
}

it('a closed socket holds none of its listeners, all of which saw it close', async () => {
  const { accepted, dialed, stop } = await connected();
  const closed: string[] = [];
  accepted.on('error', () => undefined).on('data', () => undefined);
  accepted.on('close', () => closed.push('accepted, before'));
  releaseListenersOnClose(accepted);
  accepted.once('close', () => closed.push('accepted, after'));
  dialed.on('error', () => undefined).on('close', () => closed.push('dialed'));
  const bothClosed = Promise.all([accepted, dialed].map((socket) => new Promise((done) => socket.on('close', done))));
  dialed.resetAndDestroy();
  await bothClosed;
  expect(closed.toSorted()).toEqual(['accepted, after', 'accepted, before', 'dialed']);
  expect([accepted.eventNames(), dialed.eventNames()]).toEqual([[], []]);
  stop();
});

it('a dialled socket knows the other end, also after it has closed', async () => {
  const { dialed, port, stop } = await connected();
  const ends = (): unknown => [dialed.remoteAddress, dialed.remotePort];
  expect(ends()).toEqual(['127.0.0.1', port]);
  dialed.destroy();
  await once(dialed, 'close');
  expect(ends()).toEqual(['127.0.0.1', port]);
  stop();
});

it('one that was connected in another way asks the system', async () => {
  const { accepted, dialed, port, stop } = await connected();
  const other = new DialedSocket();
  expect(other.remoteAddress).toBeUndefined();
  other.connect(port, '127.0.0.1');
  await once(other, 'connect');
  expect([other.remoteAddress, other.remotePort]).toEqual(['127.0.0.1', port]);
  for (const socket of [accepted, dialed, other]) socket.destroy();
  stop();
});
