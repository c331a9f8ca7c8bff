import type { CountrySource } from '@gatehouse/contracts';
import { DialError } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { completeExit, decideCountry, serverName } from './country-facts.js';
import type { PlacedNode } from './country-facts.js';
import { resolveServers } from './resolve-servers.js';

const node = (more: Partial<PlacedNode> = {}): PlacedNode => ({
  id: 1,
  name: 'Tokyo',
  server: 'a.example',
  country: null,
  countrySource: 'none',
  exitIp: null,
  exitCountry: null,
  ...more,
});
const lookup = (ip: string): string | null => ({ '192.0.2.1': 'NL', '192.0.2.2': 'SE' })[ip] ?? null;

describe('decideCountry', () => {
  it.each<[string, Partial<PlacedNode>, string | null, string | null, string | null, CountrySource]>([
    ['a manual choice', { countrySource: 'manual', country: 'CH' }, 'NL', '192.0.2.2', 'CH', 'manual'],
    ['the exit address', {}, 'NL', '192.0.2.2', 'NL', 'exit_ip'],
    ['the address of the server', {}, null, '192.0.2.2', 'SE', 'server_ip'],
    ['the name, for a server that no database knows', {}, null, '203.0.113.1', 'JP', 'name'],
    ['the name, for a server without an address', {}, null, null, 'JP', 'name'],
    ['nothing', { name: 'x', country: 'SE', countrySource: 'server_ip' }, null, null, null, 'none'],
  ])('goes by %s', (_what, more, exit, server, country, source) => {
    expect(decideCountry(node(more), exit, server, lookup)).toEqual({ country, source });
  });
});

describe('completeExit', () => {
  it('prefers the database to the service, and falls back to the service', () => {
    const asn = (ip: string): number | null => (ip === '192.0.2.1' ? 64_496 : null);
    expect(completeExit({ ip: '192.0.2.1', country: 'US' }, lookup, asn)).toEqual({
      ip: '192.0.2.1',
      country: 'NL',
      asn: 64_496,
    });
    expect(completeExit({ ip: '203.0.113.1', country: 'US' }, lookup, asn)).toMatchObject({ country: 'US', asn: null });
  });
});

describe('resolveServers', () => {
  const never = new AbortController().signal;

  it('resolves each name once, some at a time, and skips those that fail', async () => {
    let running = 0;
    let peak = 0;
    const asked: string[] = [];
    const resolver = {
      async resolve(name: string): Promise<string[]> {
        asked.push(name);
        peak = Math.max(peak, ++running);
        await Promise.resolve();
        running -= 1;
        if (name === 'gone.example') throw new DialError('dns', 'dns_error', 'no such name');
        return name === 'none.example' ? [] : ['192.0.2.1', '192.0.2.2'];
      },
    };
    const many = Array.from({ length: 100 }, (_, index) => `n${index}.example`);
    const found = await resolveServers(['gone.example', 'none.example', ...many, ...many], never, resolver);
    expect(asked).toHaveLength(102);
    expect(peak).toBeLessThanOrEqual(32);
    expect([found.size, found.get('n7.example'), found.has('gone.example')]).toEqual([100, '192.0.2.1', false]);
  });

  it('ends with its signal', async () => {
    const controller = new AbortController();
    const resolver = { resolve: () => Promise.reject(new DialError('dns', 'timeout', 'late')) };
    controller.abort(new Error('enough'));
    await expect(resolveServers(['a.example'], controller.signal, resolver)).rejects.toThrow('enough');
  });
});

it('resolves names, not addresses', () => {
  expect(['a.example', '192.0.2.1', '2001:db8::1'].map((server) => serverName(node({ server })))).toEqual([
    'a.example',
    null,
    null,
  ]);
});
