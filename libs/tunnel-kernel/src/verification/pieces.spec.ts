import { describe, expect, it } from 'vitest';
import { EMPTY_CONFIG } from '../config.js';
import { foreignCookies } from './cookies.js';
import { MemoryGrantStore } from './grants.js';
import { PolicyTable } from './policy-table.js';
import { ProofSigner } from './proof-signer.js';
import { safePath } from './safe-path.js';
import { TryLimit } from './try-limit.js';

describe('a path to go back to', () => {
  it.each(['/', '/a', '/a/b?c=//d#e', '/__gwx', '/a%2f%2fb'])('%s', (path) => {
    expect(safePath(path)).toBe(path);
  });

  it.each(
    [
      null,
      '',
      'a',
      '//a',
      '///a',
      '/\\a',
      '\\\\a',
      '/a\\b',
      '/\ta',
      '/ a',
      '/a\n',
      '/.//a',
      '/a/..//b',
      '/%2e//a',
    ].concat(['http:/a', 'javascript:1', '/__gw', '/__gw/x', '/x/../__gw/x', '/\u00e9']),
  )('not %j', (path) => {
    expect(safePath(path)).toBe('/');
  });
});

it('cookies of the gateway are recognized by their complete names', () => {
  expect(foreignCookies({ cookie: 'a=1; gwv_x=2; xgwv_1=3; gwv_1x=4; gwcx=5' })).toBeUndefined();
  expect(foreignCookies({ cookie: 'gwv_1=1;__Host-gwv_2=2; gws_3=3;gwc=4; __Host-gwc=5' })).toBeNull();
  expect(foreignCookies({ cookie: 'gwc=1; a=b=c; flag; d="x"' })).toBe('a=b=c; flag; d="x"');
  expect(foreignCookies({})).toBeUndefined();
});

it('a proof is valid only for its purpose, and no two proofs are equal', () => {
  let now = 1_000_000;
  const signer = new ProofSigner(Buffer.alloc(32, 1), () => now);
  const policy = { id: 5, version: 2 };
  const { text, nonce } = signer.sign(policy, 'here', 10);
  expect(signer.read(text, policy, 'here')).toBe(nonce);
  expect(signer.sign(policy, 'here', 10).text).not.toBe(text);
  expect(signer.read(text, policy, 'there')).toBeNull();
  expect(signer.read(text, { ...policy, version: 1 }, 'here')).toBeNull();
  expect(signer.read(text, { ...policy, id: 6 }, 'here')).toBeNull();
  expect(new ProofSigner(Buffer.alloc(32, 2), () => now).read(text, policy, 'here')).toBeNull();
  const replaced = new ProofSigner(Buffer.alloc(32, 2), () => now, [Buffer.alloc(32, 3), Buffer.alloc(32, 1)]);
  expect(replaced.read(text, policy, 'here')).toBe(nonce);
  expect(replaced.read(text, policy, 'there')).toBeNull();
  expect(signer.read(replaced.sign(policy, 'here', 10).text, policy, 'here')).toBeNull();
  now += 10_000;
  expect(signer.read(text, policy, 'here')).toBeNull();
  expect(replaced.read(text, policy, 'here')).toBeNull();
});

it('attempts are forgotten after a minute, and the number of remembered addresses is limited', () => {
  let now = 0;
  const tries = new TryLimit(() => now);
  const HOME = '192.0.2.1';
  const addressOf = (count: number): string => `10.0.${count >> 8}.${count & 255}`;
  for (let count = 0; count < 5; count += 1) expect(tries.take(1, HOME)).toBe(true);
  expect(tries.take(1, HOME)).toBe(false);
  expect(tries.take(2, HOME)).toBe(true);
  expect(tries.retryAfter(1, HOME)).toBe(60);
  for (let count = 0; count < 20_001; count += 1) tries.take(3, addressOf(count));
  expect(tries.take(1, HOME)).toBe(true);
  now = 60_000;
  for (let count = 0; count < 5; count += 1) expect(tries.take(3, addressOf(20_000))).toBe(true);
  tries.giveBack(3, addressOf(20_000));
  expect([tries.take(3, addressOf(20_000)), tries.take(3, addressOf(20_000))]).toEqual([true, false]);
});

it('grants are forgotten when they expire', () => {
  let now = 0;
  const store = new MemoryGrantStore(() => now);
  const grant = { tunnelId: 1, address: 'a', policyId: 1, policyVersion: 1, until: 10, once: false };
  store.put(grant);
  now = 9;
  expect(store.get(grant)).toEqual(grant);
  now = 10;
  expect(store.get(grant)).toBeUndefined();
  expect([store.size, store.list()]).toEqual([0, []]);
});

it('grants of other processes are accepted, but do not replace local changes that were not reported yet', () => {
  const store = new MemoryGrantStore(() => 0);
  const grant = { tunnelId: 1, address: 'a', policyId: 1, policyVersion: 1, until: 10, once: true };
  const other = { ...grant, address: 'b' };
  store.receive([{ ...other, grant: other }]);
  expect(store.takeChanges()).toEqual([]);
  store.put(grant);
  store.takeChanges();
  // Used up; then the news of its beginning comes back.
  store.remove(grant);
  store.receive([{ ...grant, grant }]);
  expect(store.get(grant)).toBeUndefined();
  store.replace([grant]);
  expect([store.get(grant), store.get(other)]).toEqual([undefined, undefined]);
  const changes = store.takeChanges();
  expect(changes).toMatchObject([{ address: 'a', grant: null }]);
  // It could not be reported, and there is a new one in the meantime.
  store.put({ ...grant, until: 20 });
  store.restore(changes);
  expect(store.takeChanges()).toMatchObject([{ grant: { until: 20 } }]);
  store.replace([other]);
  expect(store.list()).toEqual([other]);
});

it('policies of a client do not apply to tunnels with their own keys', () => {
  const tunnel = { clientId: 1, listen: { host: '', port: 0 }, targets: [] };
  const policies = [
    {
      id: 1,
      resource: { kind: 'client' as const, id: 1 },
      type: 'password' as const,
      password: 'x',
      callbackUrl: null,
      ttlSeconds: 1,
      version: 1,
    },
  ];
  const tunnels = [
    { ...tunnel, id: 1, mode: 'tcp' as const },
    { ...tunnel, id: 2, mode: 'secret' as const },
  ];
  const table = new PolicyTable({ ...EMPTY_CONFIG, tunnels, policies });
  expect(table.ofTunnel(1)).toHaveLength(1);
  expect(table.ofTunnel(2)).toEqual([]);
  expect([...table.changedSince(new PolicyTable(EMPTY_CONFIG))]).toEqual(['tunnel:1']);
});
