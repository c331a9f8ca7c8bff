import type { OtherNode, ProxyNode } from '@gatehouse/contracts';
import fc from 'fast-check';
import { dialableNode, endpoint, hex, hostName, record, secret, uuid } from './node-arbitraries.js';

/** Nodes of the types that are only stored and exported, and nodes of any type. */

const options = <T extends Record<string, fc.Arbitrary<unknown>>>(
  required: T,
  optional: Record<string, fc.Arbitrary<unknown>>,
) =>
  fc
    .tuple(fc.record(required), fc.record(optional, { requiredKeys: [] }))
    .map(([must, may]) => ({ ...must, ...may }) as Record<string, unknown>);
const on = fc.constant(true);
const tlsOptions = {
  sni: hostName,
  'skip-cert-verify': on,
  alpn: fc.constantFrom(['h3'], ['h2', 'h3']),
  fingerprint: hex(32),
  'client-fingerprint': fc.constant('chrome'),
};
/** Options that have no parameter in links. */
const strange = {
  'x-text': fc.constantFrom('a&b', 'ü'),
  'x-number': fc.integer({ min: -5, max: 5 }),
  'x-flag': on,
  'x-map': fc.constant({ a: 'b', c: [{ d: 1 }] }),
  tfo: on,
};
const OTHER_OPTIONS: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
  ssr: options(
    {
      cipher: fc.constant('aes-256-cfb'),
      password: secret,
      protocol: fc.constant('auth_aes128_md5'),
      obfs: fc.constant('tls1.2_ticket_auth'),
    },
    { 'obfs-param': secret, 'protocol-param': secret, ...strange },
  ),
  hysteria: options(
    {},
    {
      ...tlsOptions,
      'auth-str': secret,
      obfs: secret,
      protocol: fc.constant('faketcp'),
      up: fc.constant('100 Mbps'),
      down: fc.constantFrom('1', '200'),
      ports: fc.constant('5000-6000'),
      'fast-open': on,
      ...strange,
    },
  ),
  hysteria2: options(
    { password: secret },
    {
      ...tlsOptions,
      obfs: fc.constant('salamander'),
      'obfs-password': secret,
      ports: fc.constant('443,5000-6000'),
      'hop-interval': fc.constantFrom('30', '15-30'),
      up: fc.constant('30 Mbps'),
      ...strange,
    },
  ),
  tuic: fc.oneof(
    options(
      { uuid, password: secret },
      {
        ...tlsOptions,
        'congestion-controller': fc.constant('bbr'),
        'udp-relay-mode': fc.constant('quic'),
        'disable-sni': on,
        'reduce-rtt': on,
        ...strange,
      },
    ),
    options({ token: secret.filter((value) => !value.includes(':')) }, { ...tlsOptions, ...strange }),
  ),
  wireguard: options(
    { 'private-key': fc.constant('eCtXsJZ27+4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU=') },
    {
      'public-key': fc.constant('Cr8hWlKvtDt7nrvf+f0brNQQzabAqrjfBvas9pmowjo='),
      'pre-shared-key': fc.constant('31aIhAPwktDGpH4JDhA8GNvjFXEf/a6+UaQRyOAiyfM='),
      ip: fc.constant('10.0.0.2'),
      ipv6: fc.constant('fd00::2'),
      reserved: fc.constant([209, 98, 59]),
      mtu: fc.constant(1408),
      'allowed-ips': fc.constant(['0.0.0.0/0', '::/0']),
      dns: fc.constant(['1.1.1.1']),
      'persistent-keepalive': fc.constant(25),
      ...strange,
    },
  ),
  anytls: options({ password: secret }, { ...tlsOptions, 'idle-session-timeout': fc.constant(30), ...strange }),
  mieru: options(
    { username: secret, password: secret, transport: fc.constant('TCP') },
    { multiplexing: fc.constant('MULTIPLEXING_LOW'), mtu: fc.constant(1400), ...strange },
  ),
};
/** Nodes that are stored and exported only, and whose type has a share link. */
export const otherNode: fc.Arbitrary<OtherNode> = fc.constantFrom(...Object.keys(OTHER_OPTIONS)).chain((type) =>
  record<OtherNode>({
    type: fc.constant(type as OtherNode['type']),
    ...endpoint,
    options: OTHER_OPTIONS[type] ?? fc.constant({}),
  }),
);

export const anyNode: fc.Arbitrary<ProxyNode> = fc.oneof({ weight: 2, arbitrary: dialableNode }, otherNode);

/** Nodes of the types that have no share link. */
export const linklessNode: fc.Arbitrary<OtherNode> = fc.oneof(
  record<OtherNode>({
    type: fc.constant('snell' as const),
    ...endpoint,
    options: options({ psk: secret }, { version: fc.constantFrom(3, 4), ...strange }),
  }),
  record<OtherNode>({
    type: fc.constant('ssh' as const),
    ...endpoint,
    options: options({ username: secret }, { password: secret, 'host-key': fc.constant(['ssh-ed25519 AAAA']) }),
  }),
);
