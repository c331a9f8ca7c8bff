import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChannelError, ChannelPeer, type ChannelHandlers } from './channel-peer.js';
import { dialControl } from './control-client.js';
import { localControlEndpoint, type ControlEndpoint } from './control-endpoint.js';
import { deriveControlKey } from './control-key.js';
import { ControlServer } from './control-server.js';

const KEY = deriveControlKey(randomBytes(32), 'test');
const handlers = (rest: Partial<ChannelHandlers> = {}): ChannelHandlers => ({
  perform: () => Promise.resolve(null),
  noted: () => undefined,
  closed: () => undefined,
  ...rest,
});

let folder: string;
let cleanups: (() => unknown)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'channel-'));
  cleanups = [];
});
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

async function pair(address: ControlEndpoint, far: ChannelHandlers, near: ChannelHandlers): Promise<ChannelPeer[]> {
  const accepted = Promise.withResolvers<ChannelPeer>();
  const server = new ControlServer({ keys: [KEY], onLink: (link) => accepted.resolve(new ChannelPeer(link, far)) });
  const endpoint = await server.listen(address);
  cleanups.push(() => server.close());
  const peer = new ChannelPeer(await dialControl({ endpoint, key: KEY }), near);
  cleanups.push(() => peer.close());
  return [peer, await accepted.promise];
}

describe.each([
  ['a socket of this machine', (): ControlEndpoint => localControlEndpoint(folder, 'edge')],
  ['a port', (): ControlEndpoint => ({ host: '127.0.0.1', port: 0 })],
])('a channel over %s', (_, address) => {
  it('carries requests and notes both ways', async () => {
    const notes: unknown[] = [];
    const echo = (method: string, params: unknown): Promise<unknown> => Promise.resolve({ method, params });
    const [near, far] = await pair(
      address(),
      handlers({ perform: echo }),
      handlers({ perform: echo, noted: (name, value) => notes.push([name, value]) }),
    );
    far?.note('state', { edge: 1 });
    expect(await Promise.all([near?.request('a', 'x', 5_000), far?.request('b', 2, 5_000)])).toEqual([
      { method: 'a', params: 'x' },
      { method: 'b', params: 2 },
    ]);
    expect(notes).toEqual([['state', { edge: 1 }]]);
  });

  it('returns thrown errors with their code', async () => {
    const perform = (method: string): Promise<never> =>
      Promise.reject(method === 'a' ? new ChannelError('unavailable', 'not now') : new Error('broken'));
    const [near] = await pair(address(), handlers({ perform }), handlers());
    await expect(near?.request('a', null, 5_000)).rejects.toMatchObject({ code: 'unavailable', message: 'not now' });
    await expect(near?.request('b', null, 5_000)).rejects.toMatchObject({ code: 'failed', message: 'broken' });
  });

  it('fails a call that gets no answer in time or whose peer has gone', async () => {
    const [near, far] = await pair(address(), handlers({ perform: () => new Promise(() => undefined) }), handlers());
    await expect(near?.request('a', null, 20)).rejects.toMatchObject({ code: 'unavailable' });
    const cut = expect(near?.request('a', null, 5_000)).rejects.toMatchObject({ code: 'unavailable' });
    far?.close();
    await cut;
    await expect(near?.request('a', null, 5_000)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('closes after the last answer has been sent', async () => {
    const [near, far] = await pair(
      address(),
      handlers({ perform: () => Promise.resolve('x'.repeat(300_000)) }),
      handlers(),
    );
    const answer = near?.request('a', null, 5_000);
    await far?.request('ping', null, 5_000);
    far?.finish();
    expect(await answer).toHaveLength(300_000);
  });
});

it('uses a socket that only this user can open, also when the path of the home is too long for a socket', () => {
  expect(localControlEndpoint('/home/x/.gatehouse', 'edge')).toEqual({ path: '/home/x/.gatehouse/edge.sock' });
  const address = localControlEndpoint(`/home/${'x'.repeat(100)}`, 'edge');
  const path = 'path' in address ? address.path : '';
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
});
