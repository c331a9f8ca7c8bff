/** Well-formed inputs that the fuzzers start from. */
import { zstdCompressSync } from 'node:zlib';

const b64 = (text: string): string => Buffer.from(text).toString('base64');
const UUID = '11111111-2222-4333-8444-555555555555';

export const LINKS = [
  `ss://${b64('aes-128-gcm:p')}@h.example:8388?plugin=obfs-local%3Bobfs%3Dhttp%3Bobfs-host%3Do.example#n`,
  `ss://${b64('aes-256-gcm:p@192.0.2.1:8388')}#legacy`,
  `ssr://${Buffer.from(`h.example:1:auth_aes128_md5:aes-256-cfb:tls1.2_ticket_auth:${b64('p')}/?remarks=${b64('n')}`).toString('base64url')}`,
  `vmess://${b64(JSON.stringify({ v: '2', ps: 'n', add: 'h.example', port: 443, id: UUID, aid: 0, net: 'ws', host: 'c.example', path: '/p?ed=2048', tls: 'tls', sni: 's.example' }))}`,
  `vmess://${UUID}@h.example:443?encryption=auto&type=grpc&serviceName=s&security=tls#n`,
  `vmess://${b64(`auto:${UUID}@h.example:443`)}?remarks=n&obfs=websocket&obfsParam=c.example&path=/p&tls=1`,
  `vless://${UUID}@[2001:db8::1]:443?flow=xtls-rprx-vision&security=reality&pbk=${'A'.repeat(43)}&sid=abcd&fp=chrome#%F0%9F%87%AF%F0%9F%87%B5`,
  'trojan://p%40ss@h.example:443?type=ws&host=c.example&path=%2Fws&alpn=h2,http/1.1&allowInsecure=1#n',
  'hysteria://h.example:443?auth=p&upmbps=100&downmbps=100&mport=5000-6000&obfs=xplus&obfsParam=k&insecure=1#n',
  'hysteria2://p:w@h.example:443,5000-6000/?obfs=salamander&obfs-password=k&pinSHA256=aa:bb&sni=s.example#n',
  `tuic://${UUID}:p@h.example:443?congestion_control=bbr&alpn=h3&udp_relay_mode=quic#n`,
  `wireguard://${encodeURIComponent(b64('k'.repeat(32)))}@h.example:51820?publickey=${encodeURIComponent(b64('p'.repeat(32)))}&address=10.0.0.2/32,fd00::2/128&reserved=1,2,3&mtu=1408#n`,
  'anytls://p@h.example:443?sni=s.example&insecure=1#n',
  'mierus://u:p@h.example?port=1000-1005&protocol=TCP&profile=default&multiplexing=MULTIPLEXING_LOW#n',
  'socks5://u:a:b@h.example:1080#n',
  `socks://${b64('u:p')}@192.0.2.1:1080`,
  'https://u:p@h.example:443/?sni=s.example#n',
  'h.example:8080:user:pass',
];

export const SHARE_LINKS = [
  '链接：https://pan.baidu.com/s/13milLJZV5_7DCzGDQu-fcA?pwd=8888 提取码：8888 复制这段内容',
  'https://115cdn.com/s/sw6pw793wfp?password=t816&#\n访问码：t816',
  'https://www.123684.com/s/H6Y7Vv-2oDFv?%E6%8F%90%E5%8F%96%E7%A0%81:REVO$$$https://drive.uc.cn/s/acee11d5310a4?public=1',
  'https://pan.quark.cn/s/203e7e764160?pwd=FLtm#/list/share/aabc0123',
  'https://cloud.189.cn/t/aiuYru7zIfqq（访问码：a1b2）',
  'https://h5.cloud.189.cn/share.html#/t/aiuYru7zIfqq',
  'https://pan.xunlei.com/s/VNx8hVvMfSH5PjUnM8tO-DzVA1?pwd=jxdp#',
  'https://caiyun.139.com/m/i?2oRhbuZoZbFpi https://yun.139.com/shareweb/#/w/i/2oRhbuZoZbFpi',
  'https://www.alipan.com/s/AbC123dEf45/folder/60a1b2c3',
  'magnet:?xt=urn:btih:c9e15763f722f23e98a29decdfae341b98d53056&amp;dn=A+film&amp;tr=udp%3A%2F%2Ft.example',
  'ed2k://|file|A film.mkv|123456|0123456789abcdef0123456789abcdef|h=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567|/',
  'https://evil.example/?u=https://115.com/s/abc&pwd=ab12',
  'sw6pw793wfp-t816',
];

export const CLASH = [
  `port: 7890
proxies:
  - {name: "a, b", type: ss, server: h.example, port: 1, cipher: aes-128-gcm, password: 'p''q', plugin: obfs, plugin-opts: {mode: http, host: o}}
  - name: b
    type: vmess
    server: h.example
    port: 443
    uuid: ${UUID}
    alterId: 0
    cipher: auto
    network: ws
    ws-opts: {path: /p, headers: {Host: c.example}}
rules:
  - DOMAIN-SUFFIX,example.com,PROXY
  - MATCH,DIRECT
`,
  `x: &x {type: http, port: 1}
y: &y [*x, *x, *x]
proxies:
  - {<<: *x, name: a, server: h.example}
  - <<: [*x]
    name: "\\u0041\\n"
    server: |-
      h.example
`,
  `{proxies: [{name: a, type: trojan, server: h.example, port: 443, password: p, alpn: [h2, http/1.1]}], rules: ['MATCH,DIRECT']}`,
];

export const JSON_DOCUMENTS = [
  JSON.stringify({
    outbounds: [
      { type: 'selector', tag: 's', outbounds: ['a'] },
      {
        type: 'vless',
        tag: 'a',
        server: 'h.example',
        server_port: 443,
        uuid: UUID,
        tls: {
          enabled: true,
          server_name: 's',
          reality: { enabled: true, public_key: 'A'.repeat(43), short_id: 'ab' },
        },
        transport: { type: 'ws', path: '/p', headers: { Host: ['c'] } },
      },
      { type: 'hysteria2', tag: 'b', server: 'h', server_port: 1, password: 'p', server_ports: ['1:2'], obfs: {} },
    ],
    endpoints: [
      { type: 'wireguard', tag: 'w', address: ['10.0.0.2/32'], private_key: 'k', peers: [{ address: 'h', port: 1 }] },
    ],
  }),
  `{ // comment
    outbounds: [{type: 'http', tag: 'a', server: 'h', server_port: 1,},], /* end */ }`,
  JSON.stringify({
    version: 1,
    servers: [
      {
        id: 'x',
        remarks: 'n',
        server: 'h.example',
        server_port: 1,
        password: 'p',
        method: 'aes-128-gcm',
        plugin: 'v2ray-plugin',
        plugin_opts: 'tls;host=c',
      },
    ],
  }),
  JSON.stringify([{ server: 'h.example', server_port: 1, password: 'p', method: 'aes-128-gcm' }]),
];

export const SSD = [
  JSON.stringify({
    airport: 'x',
    port: 1,
    encryption: 'aes-128-gcm',
    password: 'p',
    servers: [
      { server: 'h.example', remarks: 'a' },
      { server: 'i.example', port: 2, plugin: 'simple-obfs', plugin_options: 'obfs=tls' },
    ],
  }),
];

export const SURGE = [
  '[General]\nloglevel = notify\n[Proxy]\nd = direct\na = ss, h.example, 1, encrypt-method=aes-128-gcm, password="a,b", obfs=http\nb = vmess, h.example, 443, username=' +
    UUID +
    ', ws=true, ws-path=/p, ws-headers=Host:c|X:"y", tls=true\n[Rule]\nFINAL,DIRECT\n',
];

export const HEADERS = [
  'upload=1; download=2.5; total=3e9; expire=1893456000',
  'attachment; filename="a\\"b.yaml"; filename*=UTF-8\'\'%E6%9C%BA%E5%9C%BA.yaml',
  `base64:${b64('title 🏠')}`,
  'https://provider.example/?a=1#b',
];

export const RULES = [
  'DOMAIN-SUFFIX,example.com,PROXY\nDOMAIN-KEYWORD,goog,DIRECT\nDOMAIN-WILDCARD,*.ex?mple.com,REJECT\nDOMAIN-REGEX,^ad\\d+\\.,REJECT',
  'IP-CIDR,10.0.0.0/8,DIRECT,no-resolve\nIP-CIDR6,2001:db8::/32,PROXY,src\nIP-SUFFIX,8.8.8.8/24,PROXY\nGEOIP,CN,DIRECT,no-resolve\nIP-ASN,13335,PROXY',
  'DST-PORT,80/443/8000-9000,PROXY\nNETWORK,udp,REJECT\nIN-TYPE,SOCKS5/HTTP,PROXY\nRULE-SET,ads,REJECT\nGEOSITE,cn,DIRECT',
  'AND,((DOMAIN,a.example),(NETWORK,udp)),DIRECT\nOR,((DST-PORT,1),(NOT,((SRC-IP-CIDR,10.0.0.0/8)))),REJECT\nMATCH,PROXY',
];

export const RULE_SETS = [
  '# list\nexample.com\n+.example.org\n.example.net\n*.example.io\n',
  'payload:\n  - \'+.example.com\'\n  - "10.0.0.0/8" # x\n  - DOMAIN-SUFFIX,example.com\n',
  '10.0.0.0/8\n2001:db8::/32\n192.0.2.1\n',
];

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => bytes.writeBigUInt64BE(BigInt(value), index * 8));
  return bytes;
}

/** Unpacked: what is fuzzed is what zstd gives. */
export const MRS_BODIES = [
  Buffer.concat([
    Buffer.from('MRS\x01', 'latin1'),
    Buffer.from([0]),
    words(1, 0),
    Buffer.from([1]),
    words(1, 0b100, 1, 0b11010, 2),
    Buffer.from('ba'),
  ]),
  Buffer.concat([
    Buffer.from('MRS\x01', 'latin1'),
    Buffer.from([1]),
    words(1, 0),
    Buffer.from([1]),
    words(1),
    Buffer.from('00000000000000000000ffff0a00000000000000000000000000ffff0affffff'.padEnd(64, '0').slice(0, 64), 'hex'),
  ]),
];

export const packMrs = (body: Buffer): Buffer => zstdCompressSync(body);

type Value = string | number | { [key: string]: Value } | Value[];

function control(type: number, size: number): Buffer {
  const first = type > 7 ? 0 : type << 5;
  return Buffer.from([first | Math.min(size, 28), ...(type > 7 ? [type - 7] : [])]);
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, value.length), Buffer.from(value, 'latin1')]);
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    return Buffer.concat([
      control(7, entries.length),
      ...entries.flatMap(([key, item]) => [encode(key), encode(item)]),
    ]);
  }
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return Buffer.concat([control(6, 4), bytes]);
}

/** A database of one node: the lower half of all addresses has the record. */
function database(record: Value, type: string, ipVersion: 4 | 6): Buffer {
  const node = Buffer.from([0, 0, 1 + 16, 0, 0, 1]);
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    node_count: 1,
    record_size: 24,
    ip_version: ipVersion,
    database_type: type,
    build_epoch: 1_700_000_000,
    languages: ['en'],
    description: { en: 'x' },
  };
  return Buffer.concat([
    node,
    Buffer.alloc(16),
    encode(record),
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    encode(metadata),
  ]);
}

export const DATABASES = [
  database({ country: { iso_code: 'JP', names: { en: 'Japan' } } }, 'GeoLite2-Country', 4),
  database({ country_code: 'US' }, 'country ipvAll', 6),
  database('de', 'sing-geoip', 4),
  database(['cn', 'private'], 'Meta-geoip0', 6),
  database({ autonomous_system_number: 13_335, autonomous_system_organization: 'X' }, 'GeoLite2-ASN', 4),
];

function message(field: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([field * 8 + 2, bytes.length]), bytes]);
}

export const GEOSITES = [
  message(
    1,
    Buffer.concat([
      message(1, 'GOOGLE'),
      message(2, Buffer.concat([Buffer.from([8, 2]), message(2, 'google.com'), message(3, message(1, 'cn'))])),
      message(2, message(2, 'goog')),
    ]),
  ),
];
