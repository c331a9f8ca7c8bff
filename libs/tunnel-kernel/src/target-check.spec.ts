import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../test/host-rig.js';

let rig: HostRig;
afterEach(() => rig.close());

const MS = 5_000;
const host = { kind: 'host', id: 12 } as const;

describe('a target check', () => {
  it('reports the status of a host, or why there is none', async () => {
    rig = await HostRig.start();
    expect(await rig.server.checkTarget(host, MS)).toEqual({ state: 'starting', status: null });
    const asked: (string | undefined)[] = [];
    const port = await rig.origin(({ method, url, headers }, response) => {
      asked.push(method, url, headers.host, headers['x-key']?.toString());
      response.writeHead(403).end();
    });
    const config = rig.hostConfig([port], { location: '/app', requestHeaders: { 'x-key': 'k' } });
    await rig.serve({ ...config, id: host.id });
    expect(await rig.server.checkTarget(host, MS)).toEqual({ state: 'answers', status: 403 });
    expect(asked).toEqual(['HEAD', '/app', 'a.test', 'k']);

    await rig.serve({ ...rig.hostConfig([await rig.unusedPort()]), id: host.id });
    expect(await rig.server.checkTarget(host, MS)).toEqual({ state: 'refused', status: null });
    const talker = createServer((socket) => void socket.on('error', () => undefined).end('220 mail\r\n'));
    await once(talker.listen(0, '127.0.0.1'), 'listening');
    await rig.serve({ ...rig.hostConfig([(talker.address() as AddressInfo).port]), id: host.id });
    expect((await rig.server.checkTarget(host, MS)).state).toBe('no_http');
    talker.close();
    const silent = createServer((socket) => void socket.on('error', () => undefined).resume());
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    await rig.serve({ ...rig.hostConfig([(silent.address() as AddressInfo).port]), id: host.id });
    expect((await rig.server.checkTarget(host, 50)).state).toBe('timeout');
    silent.close();
  });

  it('reaches the target of a tunnel without counting a visitor, and reports a missing agent', async () => {
    rig = await HostRig.start();
    const accepted: unknown[] = [];
    const target = await rig.target((socket) => void accepted.push(socket.resume()));
    const { clientId } = rig.hostConfig([target]);
    await rig.tunnel(clientId, [target], { id: 40 });
    await waitFor(async () => (await rig.server.checkTarget({ kind: 'tunnel', id: 40 }, MS)).state === 'answers');
    expect(accepted.length).toBeGreaterThan(0);
    expect(rig.server.flows).toBe(0);
    expect(rig.server.takeDeltas()).toEqual([]);
    await rig.tunnel(clientId, [await rig.unusedPort()], { id: 41 });
    await waitFor(async () => (await rig.server.checkTarget({ kind: 'tunnel', id: 41 }, MS)).state === 'refused');
    await rig.tunnel(clientId, [], { id: 42, mode: 'socks5' });
    expect((await rig.server.checkTarget({ kind: 'tunnel', id: 42 }, MS)).state).toBe('unchecked');
    await rig.served?.stop();
    await waitFor(async () => (await rig.server.checkTarget({ kind: 'tunnel', id: 42 }, MS)).state === 'offline');
  });
});
