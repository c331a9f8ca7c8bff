import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { anyNode } from '../test/other-node-arbitraries.js';
import { toClashEntry } from './clash/to-entry.js';
import { FORMAT_ERROR_CODES } from './errors.js';
import { formatLink } from './links/registry.js';
import { parseSubscription } from './parse-subscription.js';
import type { ParsedSubscription } from './parsed.js';
import { parseRawConfig } from './raw-config.js';

const LINKS = [
  'trojan://secret@a.example:443#A',
  'ss://YWVzLTEyOC1nY206cA@192.0.2.1:8388#B',
  'socks5://u:p@c.example:1080#C',
];
const list = LINKS.join('\n');
const b64 = (text: string) => Buffer.from(text).toString('base64');
const names = (result: ParsedSubscription) => result.nodes.map((entry) => entry.node.name);

describe('lists of links', () => {
  it.each([
    ['plain', list, 'links'],
    ['CRLF', LINKS.join('\r\n'), 'links'],
    ['CR only', LINKS.join('\r'), 'links'],
    ['byte order mark', `\ufeff${list}`, 'links'],
    ['comments and blank lines', `# a\n\n// b\n; c\n${LINKS.join('\n\n  ')}\n`, 'links'],
    ['base64', b64(list), 'base64'],
    ['base64 without padding', b64(list).replace(/=+$/, ''), 'base64'],
    ['base64url', Buffer.from(`${list}\n#???>>>ÿÿ`).toString('base64url'), 'base64'],
    ['base64 in lines', b64(list).replace(/(.{60})/g, '$1\r\n'), 'base64'],
    ['base64 of base64', b64(b64(list)), 'base64'],
    ['base64 line by line', LINKS.map(b64).join('\n'), 'links'],
    ['JSON list of links', JSON.stringify(LINKS), 'links'],
  ])('%s', (_name, text, format) => {
    const result = parseSubscription(text);
    expect(result.skipped).toEqual([]);
    expect(names(result)).toEqual(['A', 'B', 'C']);
    expect(result.format).toBe(format);
    expect(result.error).toBeUndefined();
  });

  it('bytes in UTF-8 and UTF-16 with byte order marks are decoded', () => {
    const text = `trojan://secret@a.example:443#香港`;
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const bytes of [Buffer.from(`\ufeff${text}`), utf16, Buffer.from(utf16).swap16()]) {
      expect(names(parseSubscription(bytes))).toEqual(['香港']);
    }
  });

  it('host:port lines are HTTP proxies', () => {
    const result = parseSubscription('192.0.2.1:8080\n[2001:db8::1]:3128:user:pa:ss\nu:p@h.example:80\n999.1:99999\n');
    expect(result.format).toBe('hosts');
    expect(result.nodes.map((entry) => entry.node)).toMatchObject([
      { type: 'http', server: '192.0.2.1', port: 8080 },
      { server: '2001:db8::1', port: 3128, username: 'user', password: 'pa:ss' },
      { server: 'h.example', username: 'u', password: 'p' },
    ]);
    expect(result.skipped).toMatchObject([{ line: 4, reason: 'invalid_port' }]);
  });

  it('a repeated node is one node and one duplicate', () => {
    const result = parseSubscription(`${LINKS[0]}\n${LINKS[1]}\ntrojan://secret@A.example:443?security=tls#other`);
    expect(names(result)).toEqual(['A', 'B']);
    expect(result.duplicates).toEqual([{ line: 3, name: 'other', of: 1 }]);
  });

  it('reports never show credentials', () => {
    const secret = 'S3cretS3cretS3cret';
    const bad = [
      `trojan://${secret}@h.example:99999#n`,
      `vless://${secret}${secret}@h.example:443`,
      `ss://${b64(`aes-128-gcm:${secret}@h.example`)}`,
      `h.example:80:user`.concat(`:x`, ` ${secret}`),
      `http://u:${secret}@h.example:1/${secret}`,
      secret.repeat(40),
    ];
    const result = parseSubscription(bad.join('\n'), { type: 'links' });
    expect(result.skipped).toHaveLength(bad.length);
    for (const entry of result.skipped) {
      expect(`${entry.input}${entry.message}`).not.toContain(secret);
      expect(entry.input.length).toBeLessThanOrEqual(200);
    }
    const clash = parseSubscription(
      JSON.stringify({ proxies: [{ name: 'n', type: 'trojan', server: 'h', port: 0, password: secret }] }),
    );
    expect(clash.skipped[0]?.input).toBe('{"name":"n","type":"trojan","server":"h","port":0,"password":"***"}');
  });
});

describe('Clash documents', () => {
  const entry = '{name: A, type: trojan, server: a.example, port: 443, password: "1"}';

  it.each([
    ['indented list', `port: 1\nproxies:\n  - ${entry}\nrules: []\n`, 3],
    ['list at the edge', `proxies:\n- ${entry}\nrules: []\n`, 2],
    ['after a comment', `# x\nproxies: # y\n\n  # z\n  - ${entry}`, 5],
    ['CRLF', `proxies:\r\n  - ${entry}\r\nrules: []\r\n`, 2],
    ['one flow list', `proxies: [${entry}]\n`, 1],
    [
      'flow over lines',
      `proxies:\n  - {name: A, type: trojan,\n     server: a.example, port: 443, password: "1"}\n`,
      2,
    ],
    ['only a list', `- ${entry}\n`, 1],
    ['old key', `Proxy:\n  - ${entry}\n`, 2],
    [
      'anchors',
      `x: &x {port: 443, password: "1"}\nproxies:\n  - {<<: *x, name: A, type: trojan, server: a.example}\n`,
      3,
    ],
    [
      'JSON',
      JSON.stringify({ proxies: [{ name: 'A', type: 'trojan', server: 'a.example', port: 443, password: '1' }] }),
      1,
    ],
    ['base64 of YAML', b64(`proxies:\n  - ${entry}\n`), 2],
    ['one document in flow style', `{proxies: [${entry}], rules: []}`, 1],
  ])('%s', (_name, text, line) => {
    const result = parseSubscription(text);
    expect(result.error).toBeUndefined();
    expect(result.format).toBe('clash');
    expect(result.nodes).toMatchObject([
      { line, node: { type: 'trojan', name: 'A', password: '1', server: 'a.example' } },
    ]);
  });

  it('DIRECT and similar entries are neither nodes nor errors', () => {
    const result = parseSubscription(`proxies:\n  - {name: d, type: direct}\n  - ${entry}\n`);
    expect(result).toMatchObject({ ignored: 1, skipped: [] });
    expect(result.nodes).toHaveLength(1);
  });

  it('a broken document with aliases still gives its readable entries', () => {
    const result = parseSubscription(`proxies:\n  - ${entry}\n  - {name: B, <<: *gone}\n`);
    expect(names(result)).toEqual(['A']);
    expect(result.skipped).toMatchObject([{ line: 3 }]);
  });

  it('bombs are refused quickly', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(10).fill(`*l${i}`).join(', ')}]`,
    );
    const laughs = `l0: &l0 ha\n${levels.join('\n')}\nproxies:\n  - {name: A, type: ss, x: *l12}\n`;
    const deep = `proxies:\n  - {a: ${'['.repeat(30_000)}`;
    const wide = `proxies: [${'{a: '.repeat(100_000)}`;
    const keys = `proxies:\n  - {${Array.from({ length: 6000 }, (_, i) => `k${i}: &a ${i}`).join(', ')}}`;
    for (const text of [laughs, deep, wide, keys]) {
      const start = process.cpuUsage();
      const result = parseSubscription(text);
      const spent = process.cpuUsage(start);
      expect(result.nodes).toEqual([]);
      expect([result.error?.code, result.skipped[0]?.reason]).not.toEqual([undefined, undefined]);
      expect(spent.user / 1000).toBeLessThan(3000);
    }
    expect(parseSubscription(laughs).error?.code).toBe('too_many_aliases');
  });

  it('deep and huge JSON entries are skipped without affecting others', () => {
    const good = { name: 'A', type: 'trojan', server: 'a.example', port: 443, password: '1' };
    const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as object;
    const result = parseSubscription(
      JSON.stringify({ proxies: [{ ...good, x: deep }, good, { ...good, x: 'y'.repeat(70_000) }, 5, null] }),
    );
    expect(names(result)).toEqual(['A']);
    expect(result.skipped.map((skip) => skip.reason)).toEqual([
      'too_deep',
      'entry_too_large',
      'invalid_entry',
      'invalid_entry',
    ]);
  });
});

describe('sing-box and SIP008', () => {
  it('reads outbounds and ignores those that are not servers', () => {
    const text = JSON.stringify({
      outbounds: [
        { type: 'selector', tag: 'select', outbounds: ['t'] },
        { type: 'direct', tag: 'direct' },
        {
          type: 'shadowsocks',
          tag: 's',
          server: '192.0.2.1',
          server_port: 8388,
          method: 'aes-128-gcm',
          password: 'p',
          plugin: 'obfs-local',
          plugin_opts: 'obfs=http;obfs-host=bing.com',
        },
        {
          type: 'vmess',
          tag: 'm',
          server: 'h.example',
          server_port: 443,
          uuid: 'b831381d-6324-4d53-ad4f-8cda48b30811',
          security: 'auto',
          tls: { enabled: true, server_name: 's.example', insecure: true },
          transport: {
            type: 'ws',
            path: '/p',
            headers: { Host: 'c.example' },
            max_early_data: 2048,
            early_data_header_name: 'Sec-WebSocket-Protocol',
          },
        },
        {
          type: 'vless',
          tag: 'v',
          server: 'h.example',
          server_port: 443,
          uuid: 'b831381d-6324-4d53-ad4f-8cda48b30811',
          flow: 'xtls-rprx-vision',
          tls: {
            enabled: true,
            server_name: 'w.example',
            utls: { enabled: true, fingerprint: 'chrome' },
            reality: { enabled: true, public_key: 'Z84J2IelR9ch3k8VtlVhhs5ycBUlXA7wHBWcBrjqnAw', short_id: 'ab' },
          },
        },
        {
          type: 'hysteria2',
          tag: 'h',
          server: 'h.example',
          server_port: 443,
          password: 'p',
          obfs: { type: 'salamander', password: 'o' },
          tls: { enabled: true, server_name: 's.example' },
        },
        { type: 'trojan', tag: 't', server: 'h.example' },
        { type: 'socks', tag: 'k', server: 'h.example', server_port: 1080, version: '4' },
      ],
    });
    const result = parseSubscription(text);
    expect(result).toMatchObject({ format: 'sing-box', ignored: 2 });
    expect(result.nodes.map((entry) => entry.node)).toEqual([
      {
        type: 'ss',
        name: 's',
        server: '192.0.2.1',
        port: 8388,
        cipher: 'aes-128-gcm',
        password: 'p',
        plugin: { name: 'obfs', options: { mode: 'http', host: 'bing.com' } },
      },
      {
        type: 'vmess',
        name: 'm',
        server: 'h.example',
        port: 443,
        uuid: 'b831381d-6324-4d53-ad4f-8cda48b30811',
        alterId: 0,
        cipher: 'auto',
        tls: { sni: 's.example', skipCertVerify: true },
        transport: {
          type: 'ws',
          path: '/p',
          headers: { Host: 'c.example' },
          maxEarlyData: 2048,
          earlyDataHeaderName: 'Sec-WebSocket-Protocol',
        },
      },
      {
        type: 'vless',
        name: 'v',
        server: 'h.example',
        port: 443,
        uuid: 'b831381d-6324-4d53-ad4f-8cda48b30811',
        flow: 'xtls-rprx-vision',
        tls: {
          sni: 'w.example',
          clientFingerprint: 'chrome',
          reality: { publicKey: 'Z84J2IelR9ch3k8VtlVhhs5ycBUlXA7wHBWcBrjqnAw', shortId: 'ab' },
        },
      },
      {
        type: 'hysteria2',
        name: 'h',
        server: 'h.example',
        port: 443,
        options: { password: 'p', obfs: 'salamander', 'obfs-password': 'o', sni: 's.example' },
      },
    ]);
    expect(result.skipped).toMatchObject([
      { line: 7, name: 't', reason: 'missing_field' },
      { line: 8, name: 'k', reason: 'unsupported_type' },
    ]);
  });

  it('reads SIP008', () => {
    const server = {
      id: 'x',
      remarks: 'A',
      server: '192.0.2.1',
      server_port: 8388,
      password: 'p',
      method: 'aes-128-gcm',
    };
    for (const document of [{ version: 1, servers: [server] }, [server]]) {
      const result = parseSubscription(JSON.stringify(document));
      expect(result.format).toBe('sip008');
      expect(result.nodes[0]?.node).toEqual({
        type: 'ss',
        name: 'A',
        server: '192.0.2.1',
        port: 8388,
        cipher: 'aes-128-gcm',
        password: 'p',
      });
    }
  });
});

describe('one node, many formats', () => {
  it('link, base64, Clash YAML and Clash JSON give one fingerprint, and raw reads back to the node', () => {
    fc.assert(
      fc.property(fc.array(anyNode, { minLength: 1, maxLength: 6 }), (nodes) => {
        const links = nodes.map((node) => formatLink(node)).join('\n');
        const entries = nodes.map((node) => toClashEntry(node));
        const documents = [
          links,
          Buffer.from(links).toString('base64'),
          Buffer.from(links.replaceAll('\n', '\r\n')).toString('base64url'),
          stringify({ port: 7890, proxies: entries, rules: ['MATCH,DIRECT'] }),
          stringify({ proxies: entries }, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' }),
          JSON.stringify({ proxies: entries }),
        ];
        const results = documents.map((text) => parseSubscription(text));
        const prints = results.map((result) => result.nodes.map((entry) => entry.fingerprint));
        for (const [i, result] of results.entries()) {
          expect(result.skipped).toEqual([]);
          expect(prints[i]).toEqual(prints[0]);
          for (const entry of result.nodes)
            expect(parseRawConfig(entry.node.type, entry.raw)).toStrictEqual(entry.node);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('any input', () => {
  function check(input: string | Uint8Array): void {
    const result = parseSubscription(input);
    for (const entry of result.skipped) {
      expect(FORMAT_ERROR_CODES).toContain(entry.reason);
      expect(entry.input.length).toBeLessThanOrEqual(200);
    }
    if (result.error !== undefined) expect(result.nodes).toEqual([]);
    else
      expect(
        result.nodes.length +
          result.skipped.length +
          result.infoNodes.length +
          result.duplicates.length +
          result.ignored,
      ).toBeGreaterThan(0);
  }

  it('arbitrary bytes and texts never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => check(bytes)),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (value) => check(value)),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (value) => check(b64(value))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => check(JSON.stringify({ proxies: [value], outbounds: value }))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => check(JSON.stringify(value))),
      { numRuns: 500 },
    );
  });

  it('damaged links and entries never throw', () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat(4),
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 3 }),
        fc.constantFrom('@', '#', '?', '%', '%00', '://', ':', '=', '\n', '[', ']'),
      ),
    );
    fc.assert(
      fc.property(anyNode, fc.nat(2), fc.array(edit, { minLength: 1, maxLength: 4 }), (node, form, edits) => {
        let text =
          form === 0
            ? formatLink(node)
            : form === 1
              ? stringify({ proxies: [toClashEntry(node)] })
              : JSON.stringify({ proxies: [toClashEntry(node)] });
        for (const [at, cut, piece] of edits) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + piece + text.slice(place + cut);
        }
        check(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('inputs made to make parsers slow are read in time proportional to their length', () => {
    const million = 1_000_000;
    const inputs = [
      'A'.repeat(million),
      ':'.repeat(million),
      'a:@'.repeat(million / 4),
      '@'.repeat(million),
      `trojan://${'@'.repeat(60_000)}`,
      `ss://${'?ed='.repeat(15_000)}`,
      `vless://a@h:1?type=ws&path=${'%3Fed%3D1%26'.repeat(5000)}`,
      `vless://a@h:1#${'%'.repeat(60_000)}`,
      `vless://a@h:1?type=ws&path=/${'%'.repeat(60_000)}`,
      '\n'.repeat(million),
      ' '.repeat(million),
      `${' '.repeat(million)}x`,
      `${'\t'.repeat(million / 2)}:`,
      '- '.repeat(million / 4),
      `proxies:\n${'  - \n'.repeat(20_000)}`,
      `proxies:\n  - a: "${'\\'.repeat(60_000)}`,
      `proxies:\n${'- x: *y\n'.repeat(20_000)}`,
      `proxies:\n${'  -   '.repeat(100_000)}`,
      '[1:'.repeat(million / 4),
      `${'1'.repeat(million)}:1`,
      `ssd://${'A'.repeat(million)}`,
      `trojan://p@h:1#剩余流量${'1,'.repeat(30_000)}`,
    ];
    for (const input of inputs) {
      const start = process.cpuUsage();
      check(input);
      const spent = process.cpuUsage(start);
      expect((spent.user + spent.system) / 1000, input.slice(0, 30)).toBeLessThan(4000);
    }
  }, 60_000);
});
