import { describe, expect, it } from 'vitest';
import { parseLink } from '../links/registry.js';
import { parseSubscription } from '../parse-subscription.js';
import { formatClashDocument } from '../write-nodes.js';
import { toClashEntry } from './to-entry.js';

const UUID = '11111111-2222-4333-8444-555555555555';
const EXTRA = {
  headers: { 'X-A': '1' },
  xPaddingBytes: '100-1000',
  noGRPCHeader: true,
  scMaxEachPostBytes: 1_000_000,
  xmux: { maxConcurrency: '16-32', hKeepAlivePeriod: 30 },
  downloadSettings: {
    address: 'down.example',
    port: 8443,
    network: 'xhttp',
    security: 'reality',
    realitySettings: {
      serverName: 's.example',
      fingerprint: 'chrome',
      publicKey: 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0',
      shortId: '08',
    },
    xhttpSettings: { path: '/down', host: 'd.example', xPaddingBytes: 10 },
  },
};
const OPTIONS = {
  path: '/p',
  headers: { 'X-A': '1' },
  'x-padding-bytes': '100-1000',
  'no-grpc-header': true,
  'sc-max-each-post-bytes': 1_000_000,
  'reuse-settings': { 'max-concurrency': '16-32', 'h-keep-alive-period': 30 },
  'download-settings': {
    server: 'down.example',
    port: 8443,
    tls: true,
    servername: 's.example',
    'client-fingerprint': 'chrome',
    'reality-opts': { 'public-key': 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0', 'short-id': '08' },
    path: '/down',
    host: 'd.example',
    'x-padding-bytes': 10,
  },
};
const link = (extra: string): string =>
  `vless://${UUID}@h.example:443?security=tls&type=xhttp&path=%2Fp&extra=${encodeURIComponent(extra)}`;

describe('options of XHTTP', () => {
  it('a link becomes the options of Clash', () => {
    expect(toClashEntry(parseLink(link(JSON.stringify(EXTRA))))).toMatchObject({ 'xhttp-opts': OPTIONS });
  });

  it('a Clash entry keeps all of them, and is the node of the link', () => {
    const [entry] = parseSubscription(formatClashDocument([parseLink(link(JSON.stringify(EXTRA)))])).nodes;
    const transport = entry?.node.type === 'vless' ? entry.node.transport : undefined;
    expect(transport?.type === 'xhttp' ? JSON.parse(transport.extra ?? '') : undefined).toEqual(EXTRA);
  });

  it('YAML of another program gives numbers and switches their types', () => {
    const { nodes } = parseSubscription(
      [
        'proxies:',
        '  - name: a',
        '    type: vless',
        '    server: h.example',
        '    port: 443',
        `    uuid: ${UUID}`,
        '    network: xhttp',
        '    xhttp-opts:',
        '      path: /p',
        '      no-grpc-header: true',
        '      x-padding-bytes: 100-1000',
        '      headers: {X-A: 1}',
        '      download-settings: {server: down.example, port: 443, tls: true, alpn: [h3], path: /d}',
      ].join('\n'),
    );
    const transport = nodes[0]?.node.type === 'vless' ? nodes[0].node.transport : undefined;
    expect(transport?.type === 'xhttp' ? JSON.parse(transport.extra ?? '') : undefined).toEqual({
      noGRPCHeader: true,
      xPaddingBytes: '100-1000',
      headers: { 'X-A': '1' },
      downloadSettings: {
        address: 'down.example',
        port: 443,
        network: 'xhttp',
        security: 'tls',
        tlsSettings: { alpn: ['h3'] },
        xhttpSettings: { path: '/d' },
      },
    });
  });

  it('an extra that is no JSON object is kept as it is', () => {
    const node = parseLink(link('soon'));
    expect(toClashEntry(node)).toMatchObject({ 'xhttp-opts': { path: '/p', extra: 'soon' } });
    expect(parseSubscription(formatClashDocument([node])).nodes[0]?.node).toMatchObject({
      transport: { extra: 'soon' },
    });
  });
});
