import type {
  HttpNode,
  NodeTls,
  NodeTransport,
  ProxyNode,
  ShadowsocksNode,
  Socks5Node,
  TrojanNode,
  VlessNode,
  VmessNode,
} from '@gatehouse/contracts';
import fc from 'fast-check';

/** Nodes in their canonical form: what every reader produces. */

/** Any text that can be stored: without NUL or half of a surrogate pair. */
export const text = (min = 1, max = 24) =>
  fc
    .string({ unit: 'binary', minLength: min, maxLength: max })
    .filter((value) => !value.includes('\0') && (min === 0 || value !== ''));

const awkward = fc.constantFrom(
  'a:b',
  'p@ss',
  '#hash',
  'q?x=1&y=2',
  '100%',
  '%41',
  'a+b c',
  '密码',
  "it's",
  'x/y',
  '{"a":1}',
  ' lead',
  'null',
  '0123',
  '1e5',
  'true',
  '~',
  '- x',
  '"q"',
  'a, b',
  'key: v',
  '\\;=',
);
export const secret = fc.oneof(text(), awkward);

// oxlint-disable-next-line no-control-regex -- labels have no control characters
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
export const label = fc
  .oneof(text(1, 20), awkward, fc.constantFrom('🇭🇰 香港 01 | IPLC', 'US #2 + 50%', 'a'))
  .map((value) => value.trim())
  .filter((value) => value !== '' && !CONTROLS.test(value));

export const uuid = fc.uuid();
export const hostName = fc.constantFrom('a.example', 'node-1.example.com', 'xn--fiqs8s.example', 'h');
export const server = fc.oneof(hostName, fc.constantFrom('192.0.2.7', '2001:db8::1', '::1'));
export const port = fc.integer({ min: 1, max: 65535 });
export const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'));

/** Leaves out keys that are undefined: absent and undefined differ for `toStrictEqual`. */
export function record<T extends object>(shape: { [K in keyof T]-?: fc.Arbitrary<T[K] | undefined> }): fc.Arbitrary<T> {
  return fc.record<Record<string, unknown>>(shape as Record<string, fc.Arbitrary<unknown>>).map((value) => {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return Object.fromEntries(entries) as T;
  });
}
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const flag = fc.constantFrom(true as const, undefined);

export const path = fc
  .oneof(
    fc.constantFrom('/', '/ws', '/a/b?x=1', '/?q=%20&z', '/路径', '/ed=5', '/a b'),
    text(1, 12).map((value) => `/${value}`),
  )
  .filter((value) => !/[?&]ed=\d/.test(value));
const plainPath = path.filter((value) => !value.includes(',') && value.trim() === value);
const headerValue = fc.constantFrom('v', 'a, b', 'Mozilla/5.0 (X)', '');
const headers = fc.record(
  {
    Host: fc.constantFrom('cdn.example', 'cdn.example:8443', '192.0.2.9', 'H.example'),
    'User-Agent': headerValue,
    'X-1': headerValue,
  },
  { requiredKeys: [] },
);
const someHeaders = headers.map((value) => (Object.keys(value).length === 0 ? undefined : { ...value }));
const early = fc.option(
  fc.record({
    maxEarlyData: fc.integer({ min: 1, max: 4096 }),
    earlyDataHeaderName: fc.constantFrom('Sec-WebSocket-Protocol', 'X-Early', undefined),
  }),
  { nil: {} },
);

type Transport<T extends NodeTransport['type']> = Extract<NodeTransport, { type: T }>;
const drop = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;

export const ws = fc
  .tuple(path, someHeaders, early)
  .map(([p, h, e]) => drop({ type: 'ws', path: p, headers: h, ...e }) as Transport<'ws'>);
export const httpUpgrade = record<Transport<'httpupgrade'>>({
  type: fc.constant('httpupgrade'),
  path,
  headers: someHeaders,
});
export const grpc = record<Transport<'grpc'>>({
  type: fc.constant('grpc'),
  serviceName: fc.oneof(text(1, 10), fc.constant('')),
  multiMode: flag,
  authority: maybe(fc.constant('auth.example')),
});
export const h2 = record<Transport<'h2'>>({
  type: fc.constant('h2'),
  hosts: maybe(fc.array(hostName, { minLength: 1, maxLength: 3 })),
  path,
});
export const http1 = record<Transport<'http'>>({
  type: fc.constant('http'),
  method: maybe(fc.constant('POST')),
  path: maybe(fc.array(plainPath, { minLength: 1, maxLength: 2 }).filter((list) => list.length > 1 || list[0] !== '/')),
  headers: maybe(
    fc
      .record(
        { Host: fc.array(hostName, { minLength: 1, maxLength: 2 }), Connection: fc.constant(['keep-alive']) },
        { requiredKeys: [] },
      )
      .filter((value) => Object.keys(value).length > 0)
      .map((value) => ({ ...value }) as Record<string, string[]>),
  ),
});
export const xhttp = record<Transport<'xhttp'>>({
  type: fc.constant('xhttp'),
  path,
  host: maybe(hostName),
  mode: maybe(fc.constantFrom('stream-up', 'packet-up')),
  extra: maybe(fc.constant('{"xPaddingBytes":"100-1000"}')),
});
export const kcp = record<Transport<'kcp'>>({
  type: fc.constant('kcp'),
  seed: maybe(text(1, 8)),
  headerType: maybe(fc.constantFrom('srtp', 'wechat-video')),
});
export const quic = record<Transport<'quic'>>({
  type: fc.constant('quic'),
  security: maybe(fc.constant('aes-128-gcm')),
  key: maybe(text(1, 8)),
  headerType: maybe(fc.constant('srtp')),
});
export const transport: fc.Arbitrary<NodeTransport> = fc.oneof(ws, httpUpgrade, grpc, h2, http1, xhttp, kcp, quic);

const tlsPlain = record<NodeTls>({
  sni: maybe(fc.constantFrom('sni.example', 'other.example')),
  alpn: maybe(fc.constantFrom(['h2'], ['h2', 'http/1.1'])),
  skipCertVerify: flag,
  fingerprint: maybe(hex(32)),
  clientFingerprint: maybe(fc.constantFrom('chrome', 'firefox')),
  reality: fc.constant(undefined),
  certificate: maybe(fc.constant('-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n')),
  privateKey: maybe(fc.constant('-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n')),
  ech: maybe(fc.constant('AEn+DQBFKwAgACABWIHUGj4u+PIggYXcR5JF0gYk3dCRioBW8uJq9H4mKAAIAAEAAQABAANAEnB1YmxpYw==')),
});
const reality = record<NonNullable<NodeTls['reality']>>({
  publicKey: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((value) => Buffer.from(value).toString('base64url')),
  shortId: maybe(fc.integer({ min: 1, max: 8 }).chain(hex)),
  spiderX: maybe(fc.constant('/s?a=1')),
});
const tlsReality = fc
  .record({ sni: fc.constant('www.example.org'), clientFingerprint: fc.constant('chrome'), reality })
  .map((value) => ({ ...value }) as NodeTls);
export const tls: fc.Arbitrary<NodeTls> = fc.oneof({ weight: 2, arbitrary: tlsPlain }, tlsReality);

export const endpoint = {
  name: label,
  server,
  port,
  udp: maybe(fc.boolean()),
  dialerProxy: maybe(fc.constantFrom('relay', '🇭🇰 香港')),
};

const pluginObfs = fc
  .record({ mode: fc.constantFrom('http', 'tls'), host: fc.constant('bing.com') })
  .map((options) => ({ name: 'obfs', options: { ...options } as Record<string, string | boolean> }));
const pluginV2ray = fc
  .record({
    tls: fc.boolean(),
    mux: fc.boolean(),
    host: maybe(hostName),
    path: maybe(fc.constantFrom('/p', '/a;b=c\\d')),
  })
  .map(({ tls: secure, mux, ...rest }) => ({
    name: 'v2ray-plugin',
    options: drop({
      mode: 'websocket',
      ...rest,
      ...(secure ? { tls: true } : {}),
      ...(mux ? {} : { mux: false }),
    }) as Record<string, string | boolean>,
  }));
const pluginOther = fc
  .record({ host: hostName, password: fc.constantFrom('a;b', 'x=y', 'p\\'), version: fc.constantFrom('1', '2', '3') })
  .map((options) => ({ name: 'shadow-tls', options: { ...options } as Record<string, string | boolean> }));

const KEY_BYTES = { '2022-blake3-aes-128-gcm': 16, '2022-blake3-aes-256-gcm': 32 } as const;
const cipherAndPassword = fc.oneof(
  fc.tuple(fc.constantFrom('aes-128-gcm', 'chacha20-ietf-poly1305', 'rc4-md5'), secret),
  fc.constantFrom('2022-blake3-aes-128-gcm' as const, '2022-blake3-aes-256-gcm' as const).chain((cipher) => {
    const key = fc
      .uint8Array({ minLength: KEY_BYTES[cipher], maxLength: KEY_BYTES[cipher] })
      .map((value) => Buffer.from(value).toString('base64'));
    return fc.tuple(
      fc.constant(cipher),
      fc.oneof(
        key,
        fc.tuple(key, key).map((keys) => keys.join(':')),
      ),
    );
  }),
);
export const shadowsocks: fc.Arbitrary<ShadowsocksNode> = fc
  .tuple(
    record<Omit<ShadowsocksNode, 'cipher' | 'password'>>({
      type: fc.constant('ss'),
      ...endpoint,
      plugin: maybe(fc.oneof(pluginObfs, pluginV2ray, pluginOther)),
      udpOverTcp: flag,
    }),
    cipherAndPassword,
  )
  .map(([node, [cipher, password]]) => ({ ...node, cipher, password }));

const user = { username: maybe(secret), password: maybe(secret) };
export const socks5 = record<Socks5Node>({ type: fc.constant('socks5'), ...endpoint, ...user, tls: maybe(tlsPlain) });
export const httpProxy = record<HttpNode>({
  type: fc.constant('http'),
  ...endpoint,
  ...user,
  tls: maybe(tlsPlain),
  headers: someHeaders,
});
export const trojan = record<TrojanNode>({
  type: fc.constant('trojan'),
  ...endpoint,
  password: secret,
  tls,
  transport: maybe(transport),
});

/** VMess and VLESS over WebSocket without a server name take it from the Host header. */
function settled<N extends VmessNode | VlessNode>(node: N): N {
  const carrier = node.transport;
  if (node.tls === undefined || node.tls.sni !== undefined || carrier === undefined) return node;
  if (carrier.type !== 'ws' && carrier.type !== 'httpupgrade') return node;
  const host = carrier.headers?.['Host']?.replace(/:\d+$/, '').toLowerCase();
  const named = host !== undefined && !/^[\d.]+$/.test(host) && host !== node.server;
  // Half of the time the node really means its own address.
  return named && node.port % 2 === 0 ? { ...node, tls: { ...node.tls, sni: host } } : node;
}
export const vmess = record<VmessNode>({
  type: fc.constant('vmess'),
  ...endpoint,
  uuid,
  alterId: fc.constantFrom(0, 64),
  cipher: fc.constantFrom('auto', 'aes-128-gcm', 'zero'),
  tls: maybe(tls),
  transport: maybe(transport),
  packetEncoding: maybe(fc.constantFrom('xudp', 'packetaddr')),
}).map(settled);
export const vless = record<VlessNode>({
  type: fc.constant('vless'),
  ...endpoint,
  uuid: fc.oneof(uuid, fc.constant('custom-id')),
  flow: maybe(fc.constant('xtls-rprx-vision')),
  encryption: maybe(fc.constant('mlkem768x25519plus.native.0rtt.AAAA')),
  tls: maybe(tls),
  transport: maybe(transport),
  packetEncoding: maybe(fc.constantFrom('xudp', 'packetaddr')),
}).map(settled);

export const dialableNode: fc.Arbitrary<ProxyNode> = fc.oneof(shadowsocks, socks5, httpProxy, trojan, vmess, vless);
