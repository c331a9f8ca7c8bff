import type { ModuleRef } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import type { InternalUser } from '../kernel-config/internal-user.js';
import type { Preferences } from '../preferences/preferences.service.js';
import type { ProxyGatewaySettings } from '../settings.js';
import { KernelProxyAddress } from './kernel-proxy-address.js';

interface Listener {
  name: string;
  state: string;
  address: string;
  port: number;
}

function internalUser(needed: boolean): InternalUser {
  const user = { username: 'gatehouse', password: 'internal' };
  return { ifNeeded: () => Promise.resolve(needed ? user : null) } as unknown as InternalUser;
}

async function find(
  listeners: Listener[] | Error | null,
  chosen: { address: string | null; port: number } | null = null,
  {
    kernelPort = 7890,
    kernelUsers = [],
    kernelHost = '',
    needed = false,
  }: { kernelPort?: number; kernelUsers?: string[]; kernelHost?: string; needed?: boolean } = {},
): Promise<string | null> {
  const modules = {
    get: () => {
      if (listeners === null) throw new Error('no such provider');
      return {
        status: () => (listeners instanceof Error ? Promise.reject(listeners) : Promise.resolve({ listeners })),
      };
    },
  } as unknown as ModuleRef;
  const values: Record<string, unknown> = { 'kernel.listen.mixed': chosen, 'kernel.users': [] };
  const preferences = { get: (key: string) => values[key] } as unknown as Preferences;
  const settings = { kernelPort, kernelAddress: '127.0.0.1', kernelUsers, kernelHost, mihomo: '' };
  const given = settings as unknown as ProxyGatewaySettings;
  const found = await new KernelProxyAddress(modules, preferences, given, internalUser(needed)).find();
  return found?.url ?? null;
}

const listening = { name: 'mixed', state: 'listening', address: '127.0.0.1', port: 4321 };

describe('the address of our own kernel', () => {
  it.each([
    ['where it listens', [listening], 'http://127.0.0.1:4321'],
    ['loopback where it listens everywhere', [{ ...listening, address: '0.0.0.0' }], 'http://127.0.0.1:4321'],
    ['loopback of IPv6', [{ ...listening, address: '::' }], 'http://[::1]:4321'],
    ['the one that takes HTTP', [{ ...listening, name: 'socks', port: 1 }, listening], 'http://127.0.0.1:4321'],
    [
      'never that of a group',
      [
        { ...listening, name: 'group-JP', port: 1 },
        { ...listening, state: 'failed' },
      ],
      null,
    ],
    ['none while it does not listen', [{ ...listening, state: 'failed' }], null],
    ['none while it is down', new Error('down'), null],
  ])('%s', async (_what, listeners, expected) => {
    expect(await find(listeners)).toBe(expected);
  });

  it('includes the credentials that the environment requires', async () => {
    expect(await find([listening], null, { kernelUsers: ['ann:t:w/o'] })).toBe('http://ann:t%3Aw%2Fo@127.0.0.1:4321');
  });

  it('includes the user of the service itself if only rows make a login necessary', async () => {
    expect(await find([listening], null, { needed: true })).toBe('http://gatehouse:internal@127.0.0.1:4321');
    expect(await find(null, null, { needed: true })).toBe('http://gatehouse:internal@127.0.0.1:7890');
    const both = { needed: true, kernelUsers: ['ann:secret'] };
    expect(await find([listening], null, both)).toBe('http://ann:secret@127.0.0.1:4321');
  });

  it('is the configured address for a worker without a kernel', async () => {
    expect(await find(null)).toBe('http://127.0.0.1:7890');
    expect(await find(null, { address: '0.0.0.0', port: 9000 })).toBe('http://127.0.0.1:9000');
    expect(await find(null, { address: null, port: 9000 })).toBe('http://127.0.0.1:9000');
    expect(await find(null, null, { kernelPort: 0 })).toBeNull();
  });

  it('is on the machine named by the environment, for the service and for a worker', async () => {
    const everywhere = { ...listening, address: '0.0.0.0' };
    const kernelUsers = ['ann:secret'];
    const elsewhere = { kernelHost: 'proxy-kernel', kernelUsers };
    expect(await find([everywhere], null, elsewhere)).toBe('http://ann:secret@proxy-kernel:4321');
    expect(await find(null, null, elsewhere)).toBe('http://ann:secret@proxy-kernel:7890');
    expect(await find(null, { address: null, port: 9000 }, { kernelHost: 'fd00::5' })).toBe('http://[fd00::5]:9000');
    expect(await find([{ ...everywhere, state: 'failed' }], null, elsewhere)).toBeNull();
  });

  it.each([
    ['the embedded kernel, where no other is installed', '', null, true],
    ['the embedded kernel', '/usr/bin/mihomo', 'embedded', true],
    ['mihomo', '/usr/bin/mihomo', 'mihomo', false],
    ['one of the two, of which a worker does not know which', '/usr/bin/mihomo', null, false],
  ])('says whether %s guards its targets', async (_what, mihomo, mode, guardsTargets) => {
    const modules = {
      get: (type: { name: string }) => {
        if (type.name !== 'KernelMode' || mode === null) throw new Error('no such provider');
        return { get: () => mode };
      },
    } as unknown as ModuleRef;
    const preferences = { get: (key: string) => (key === 'kernel.users' ? [] : null) } as unknown as Preferences;
    const settings = { kernelPort: 7890, kernelAddress: '127.0.0.1', kernelUsers: [], kernelHost: '', mihomo };
    const given = settings as unknown as ProxyGatewaySettings;
    const found = await new KernelProxyAddress(modules, preferences, given, internalUser(false)).find();
    expect(found).toEqual({ url: 'http://127.0.0.1:7890', guardsTargets });
  });
});
