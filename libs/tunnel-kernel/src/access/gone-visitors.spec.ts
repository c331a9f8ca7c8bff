import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import type { IpRuleConfig } from '../index.js';

let rig: HostRig;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  await rig.close();
});

const VISITS = 40;
const deny = (scope: 'host' | 'tunnel', resourceId: number): IpRuleConfig => ({
  id: 1,
  scope,
  resourceId,
  type: 'deny',
  kind: 'cidr',
  pattern: '127.0.0.0/8',
  priority: 1,
});

/** Sends something and resets the connection before its address is read: the system then no longer knows the address. */
function speakAndReset(port: number, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write(text);
      socket.resetAndDestroy();
    });
    socket.on('error', () => undefined).on('close', () => resolve());
  });
}

describe('a visitor who is denied but leaves before the check', () => {
  it('sends no byte to the target of a tunnel', async () => {
    rig = await HostRig.start();
    let read = 0;
    const target = createServer((socket) => {
      socket.on('data', (part) => (read += part.length)).on('error', () => undefined);
    });
    cleanups.push(() => target.close());
    await once(target.listen(0, '127.0.0.1'), 'listening');
    const tunnels = [rig.tunnelConfig(1, [(target.address() as AddressInfo).port])];
    const [state] = await rig.server.apply(rig.config({ tunnels, ipRules: [deny('tunnel', 7)] }));
    const visits = Array.from({ length: VISITS }, () => speakAndReset(state?.port ?? 0, 'x'));
    await Promise.all(visits);
    await waitFor(() => rig.server.flows === 0);
    expect([rig.records.length, read]).toEqual([0, 0]);
  });

  it('sends no request to the target of a host, also behind a door', async () => {
    rig = await HostRig.start();
    let asked = 0;
    const hosts = [rig.hostConfig([await rig.origin((_, response) => ((asked += 1), response.end()))])];
    await rig.server.apply(rig.config({ hosts, ipRules: [deny('host', 12)] }));
    let taken = 0;
    const door = createServer({ pauseOnConnect: true }, (socket) => {
      setTimeout(() => {
        rig.server.take('http', socket);
        socket.resume();
        taken += 1;
      }, 50);
    });
    cleanups.push(() => door.close());
    await once(door.listen(0, '127.0.0.1'), 'listening');
    const { port } = door.address() as AddressInfo;
    const request = 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n';
    await Promise.all(Array.from({ length: VISITS }, () => speakAndReset(port, request)));
    await waitFor(() => taken === VISITS);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([rig.records.length, asked, rig.server.flows]).toEqual([0, 0, 0]);
  });
});
