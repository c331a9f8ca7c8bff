import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { afterNextPoll, onFlowFailure } from './index.js';

it('calls after the loop has read what was there already, each once and in order', async () => {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  near.write('there already');
  await new Promise((resolve) => near.write('.', resolve));
  const seen: string[] = [];
  far.on('data', () => seen.push('read')).resume();
  for (const name of ['one', 'two']) afterNextPoll({ afterPoll: () => seen.push(name), destroy: () => undefined });
  while (!seen.includes('two')) await nextTurn();
  expect(seen).toEqual(['read', 'one', 'two']);
  near.destroy();
  far.destroy();
  server.close();
});

it('ends what threw an exception, and calls the others', async () => {
  const failures: string[] = [];
  const forget = onFlowFailure(({ error }) => failures.push(error.message));
  const seen: string[] = [];
  const broken = (): void => {
    throw new Error('a defect');
  };
  afterNextPoll({ afterPoll: broken, destroy: () => seen.push('ended') });
  afterNextPoll({ afterPoll: () => seen.push('called'), destroy: () => undefined });
  while (!seen.includes('called')) await nextTurn();
  expect([seen, failures]).toEqual([['ended', 'called'], ['a defect']]);
  forget();
});
