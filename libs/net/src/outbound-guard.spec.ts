import type { LookupAddress } from 'node:dns';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForbiddenTargetError, OutboundGuard } from './outbound-guard.js';

const answers =
  (...addresses: string[]) =>
  (): Promise<LookupAddress[]> =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

describe('without resolving', () => {
  it.each([
    '127.0.0.1',
    '[::1]',
    '::1',
    '[::ffff:7f00:1]',
    '169.254.169.254',
    '168.63.129.16',
    'localhost',
    'localhost.',
    'x.localhost',
    'metadata.google.internal',
  ])('refuses %s', (host) => {
    expect(() => new OutboundGuard().checkHost(host)).toThrow(ForbiddenTargetError);
    expect(() => new OutboundGuard({ allowPrivate: true }).checkHost(host)).not.toThrow();
  });

  it.each(['8.8.8.8', '[2606:4700::1]', 'example.com'])('permits %s', (host) => {
    expect(() => new OutboundGuard().checkHost(host)).not.toThrow();
  });
});

describe('the addresses of a name', () => {
  it('are all refused if one of them is forbidden', async () => {
    const guard = new OutboundGuard({ resolve: answers('8.8.8.8', '10.0.0.1') });
    await expect(guard.addressesOf('mixed.example')).rejects.toThrow(ForbiddenTargetError);
  });

  it('are refused if the name is a number that only a resolver reads as an address', async () => {
    const guard = new OutboundGuard();
    for (const spelling of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1']) {
      await expect(guard.addressesOf(spelling), spelling).rejects.toThrow();
    }
  });

  it('are all returned if they are permitted', async () => {
    const guard = new OutboundGuard({ resolve: answers('8.8.8.8', '2606:4700::1') });
    expect(await guard.addressesOf('fine.example')).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
  });
});

describe('as the lookup of a socket', () => {
  let server: Server;
  let connections = 0;
  let port: number;

  beforeAll(async () => {
    server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });

  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  const dial = (guard: OutboundGuard, host: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host, port, lookup: guard.lookup });
      socket.on('connect', () => resolve('connected'));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name));
      socket.on('close', () => socket.destroy());
    });

  it('connects to no forbidden address, even if an earlier answer was permitted', async () => {
    let asked = 0;
    const resolve = (): Promise<LookupAddress[]> => answers(asked++ === 0 ? '8.8.8.8' : '127.0.0.1')();
    const guard = new OutboundGuard({ resolve });
    await guard.addressesOf('rebinding.example');
    expect(await dial(guard, 'rebinding.example')).toBe('EACCES');
    expect(connections).toBe(0);
  });

  it('connects to a permitted name', async () => {
    const guard = new OutboundGuard({ resolve: answers('127.0.0.1'), permits: (address) => address === '127.0.0.1' });
    expect(await dial(guard, 'fine.example')).toBe('connected');
    expect(await dial(new OutboundGuard({ allowPrivate: true }), 'localhost')).toBe('connected');
  });

  it('reports a name without addresses as not found', async () => {
    expect(await dial(new OutboundGuard({ resolve: answers() }), 'empty.example')).toBe('ENOTFOUND');
  });
});
