import type { ControlEndpoint } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { KernelPlaces, type Resolved } from './kernel-places.js';

const four = (address: string): Resolved => ({ address, family: 4 });
const six = (address: string): Resolved => ({ address, family: 6 });

/** Looks for kernels behind names whose addresses the test changes. */
function looking(configured: readonly ControlEndpoint[], addresses: Record<string, Resolved[]> = {}) {
  const found: (readonly ControlEndpoint[])[] = [];
  const warnings: string[] = [];
  const places = new KernelPlaces(configured, {
    onFound: (all) => found.push(all),
    warn: (message) => warnings.push(message),
    resolve: (host) => (addresses[host] ? Promise.resolve(addresses[host]) : Promise.reject(new Error('no such name'))),
    lookUpMs: 5,
  });
  return {
    places,
    warnings,
    addresses,
    last: () => found.at(-1),
    until: (count: number) => waitFor(() => found.length >= count),
  };
}

describe('KernelPlaces', () => {
  it('takes sockets and addresses as they are, at once', () => {
    const configured = [{ path: '/run/kernel.sock' }, { host: '10.0.0.1', port: 7891 }];
    expect(looking(configured).last()).toEqual(configured);
  });

  it('makes one kernel of each address of a name, and follows changes', async () => {
    const { places, addresses, last, until } = looking([{ host: 'kernels', port: 7891 }], {
      kernels: [four('10.0.0.1'), four('10.0.0.2'), six('fd00::1'), six('fd00::2')],
    });
    await until(1);
    expect(last()).toEqual([
      { host: '10.0.0.1', port: 7891 },
      { host: '10.0.0.2', port: 7891 },
    ]);
    addresses['kernels'] = [four('10.0.0.2'), four('10.0.0.3')];
    await waitFor(() => JSON.stringify(last()).includes('10.0.0.3'));
    expect(last()).toEqual([
      { host: '10.0.0.2', port: 7891 },
      { host: '10.0.0.3', port: 7891 },
    ]);
    places.close();
  });

  it('leaves a name with one address per family to the system, like localhost', async () => {
    const { places, last, until } = looking([{ host: 'localhost', port: 7891 }], {
      localhost: [six('::1'), four('127.0.0.1')],
    });
    await until(1);
    expect(last()).toEqual([{ host: 'localhost', port: 7891 }]);
    places.close();
  });

  it('keeps the addresses of a name that cannot be resolved for a while', async () => {
    const { places, addresses, last, until } = looking([{ host: 'kernels', port: 1 }], {
      kernels: [four('10.0.0.1'), four('10.0.0.2')],
    });
    await until(1);
    const before = last();
    delete addresses['kernels'];
    await until(4);
    expect(last()).toEqual(before);
    places.close();
  });

  it('uses 64 kernels at most, and says so once', async () => {
    const many = Array.from({ length: 70 }, (_, index) => four(`10.0.0.${index}`));
    const { places, last, warnings, until } = looking([{ host: 'kernels', port: 1 }], { kernels: many });
    await until(3);
    expect([last()?.length, warnings]).toEqual([64, ['Only 64 of 70 kernels are used']]);
    places.close();
  });
});
