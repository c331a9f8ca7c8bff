import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { requirePeer } from '../support/peers.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONFIG = path.join(ROOT, 'deploy/haproxy/haproxy.cfg');

interface Service {
  environment?: Record<string, string | number>;
  ports?: string[];
  volumes?: string[];
  networks?: string[];
}
/** `!reset` and `!override` are compose's own: what they stand before replaces what the first file has. */
const customTags = ['!reset', '!override'].map((tag) => ({
  tag,
  collection: 'seq' as const,
  resolve: (value: unknown) => value,
}));
const read = (file: string): Record<string, Service> =>
  (
    parse(readFileSync(path.join(ROOT, file), 'utf8'), { merge: true, customTags: customTags as never }) as {
      services: Record<string, Service>;
    }
  ).services;
const BASE = read('docker-compose.yml');
const { haproxy, ...COPIED } = read('docker-compose.scale.yml');
const CONFIG_TEXT = readFileSync(CONFIG, 'utf8');
/** What a server of the configuration is: a service of compose, and a port that is the same in all of its containers. */
const SERVERS = [
  ...CONFIG_TEXT.matchAll(
    /server-template copy 1-20 "?([a-z-]+)(?::\$\{[A-Z_]+-(\d+)\})?"?(?: port "\$\{[A-Z_]+-(\d+)\}")?/g,
  ),
];

describe('docker-compose.scale.yml', () => {
  it('changes services that there are, and takes their published ports and shared homes away', () => {
    expect(Object.keys(BASE)).toEqual(expect.arrayContaining(Object.keys(COPIED)));
    const copied = Object.entries(COPIED).filter(([name]) => !['postgres', 'proxy-gateway-worker'].includes(name));
    expect(copied).toHaveLength(5);
    for (const [name, { ports, volumes = [] }] of copied) {
      expect(JSON.parse(JSON.stringify(ports)), name).toEqual([]);
      expect(JSON.parse(JSON.stringify(volumes)), name).toContain('/var/lib/gatehouse');
    }
  });

  it('has haproxy publish every TCP port that the copies published', () => {
    const published = Object.keys(COPIED).flatMap((name) => BASE[name]?.ports ?? []);
    const host = (mapping: string): string => mapping.replace(/:[^:]+$/, '');
    const expected = published.filter((mapping) => !mapping.endsWith('/udp')).map(host);
    expect(haproxy?.ports?.map(host).toSorted()).toEqual(expected.toSorted());
  });

  it('lets haproxy reach the services that its configuration names, on the ports that they have', () => {
    expect(SERVERS).toHaveLength(9);
    for (const [, name = '', ...ports] of SERVERS) {
      const { environment = {}, networks = [] } = BASE[name] ?? {};
      expect(
        networks.filter((network) => haproxy?.networks?.includes(network)),
        name,
      ).toHaveLength(1);
      const values = Object.values(environment).map(String);
      for (const port of ports.filter((text) => text !== undefined)) {
        // The proxy's own port is the one that the service sets.
        const known = [...values, ...(name === 'proxy-kernel' ? ['7890'] : [])];
        expect(
          known.some((value) => value === port || value.endsWith(`:${port}`)),
          `${name} ${port}`,
        ).toBe(true);
      }
    }
  });

  it('announces the end of each copy for longer than haproxy takes to notice', () => {
    const [, every, times] = /check inter (\d+)ms fall (\d+)/.exec(CONFIG_TEXT) ?? [];
    const notice = Number(every) * (Number(times) + 1);
    const delays = Object.entries(COPIED).flatMap(([, { environment = {} }]) => {
      const delay = environment['SHUTDOWN_DELAY_MS'] ?? environment['PROXY_KERNEL_DRAIN_DELAY_MS'];
      return delay === undefined ? [] : [Number(delay)];
    });
    expect(delays).toHaveLength(5);
    for (const delay of delays) expect(delay).toBeGreaterThan(notice);
  });
});

it('the configuration is valid for the real haproxy, as compose and as the rehearsal start it', (context) => {
  const program = requirePeer(context, 'haproxy');
  for (const environment of [{}, { PORT_RANGE: '21000-21010', NAME_SERVER: '127.0.0.1:53', MAX_CONNECTIONS: '100' }]) {
    const options = { env: { PATH: process.env['PATH'], ...environment }, encoding: 'utf8' as const };
    expect(execFileSync(program, ['-c', '-f', CONFIG], options)).toContain('valid');
  }
});
