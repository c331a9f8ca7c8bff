import { PUBLICATION_TARGETS, type ProxyNode, type PublicationTarget } from '@gatehouse/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyNode, linklessNode } from '../../test/other-node-arbitraries.js';
import { parseSubscription } from '../parse-subscription.js';
import { lostOptions } from './compare-nodes.js';
import { lineName } from './line-values.js';
import { Unsayable } from './target.js';
import { writeNode, type WrittenNode } from './write-node.js';

/** Optional parts of nodes. Generated nodes have many of them, and no target has all. */
const OPTIONAL =
  /^(?:udp|dialerProxy|plugin|udpOverTcp|headers|transport|packetEncoding|encryption|flow|x-.*|tfo|fingerprint|client-?fingerprint|alpn|certificate|privateKey|ech|reality|hop-interval|protocol-param|faketcp|reserved|dns|idle-session-timeout|fast-open|spiderX|skip-?cert-?verify|multiMode|authority|extra|up|down|ports|obfs-password)$/i;

function thin(value: unknown, keep: (key: string) => boolean): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([key]) => !OPTIONAL.test(key) || keep(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, key === 'headers' ? inner : thin(inner, keep)]));
}

const full = fc.oneof({ weight: 6, arbitrary: anyNode }, linklessNode);
const every = fc.oneof(
  full,
  fc.tuple(full, fc.array(fc.nat(4), { minLength: 64, maxLength: 64 })).map(([node, bits]) => {
    let at = 0;
    return thin(node, () => bits[at++ % bits.length] === 0) as ProxyNode;
  }),
);
/** What may be missing in a document: it changes neither the server nor what protects the traffic. */
const MAY_BE_LOST =
  /^(?:name|udp|packetEncoding|cipher|tls\.(?:alpn|clientFingerprint|reality\.spiderX)|transport\.(?:maxEarlyData|earlyDataHeaderName)|options\..*)$/;

function documentOf(target: PublicationTarget, { entry }: WrittenNode): string {
  if (typeof entry === 'string') {
    return target === 'surge' || target === 'loon' ? `[Proxy]\n${entry}\n` : `${entry}\n`;
  }
  if (target === 'clash') return `proxies:\n  - ${JSON.stringify(entry)}\n`;
  return JSON.stringify(entry['type'] === 'wireguard' ? { endpoints: [entry] } : { outbounds: [entry] });
}

/** Lines have no place for some characters in names; documents get names without them. */
function named(target: PublicationTarget, node: ProxyNode): ProxyNode {
  if (target === 'clash' || target === 'sing-box' || target === 'links' || target === 'base64') return node;
  return { ...node, name: lineName(node.name) || 'node' };
}

describe.each(PUBLICATION_TARGETS)('a node written for %s', (target) => {
  it('is read from the document as the same node, or is not written', () => {
    fc.assert(
      fc.property(every, (generated) => {
        const node = named(target, generated);
        let written: WrittenNode;
        try {
          written = writeNode(target, node);
        } catch (error) {
          expect(error).toBeInstanceOf(Unsayable);
          return;
        }
        const result = parseSubscription(documentOf(target, written));
        expect(result.skipped).toEqual([]);
        expect(result.nodes).toHaveLength(1);
        const back = result.nodes[0]!.node;
        for (const field of written.lost) expect(field).toMatch(MAY_BE_LOST);
        if (written.lost.length > 0) return;
        expect(lostOptions(node, back)).toEqual([]);
        if (!('options' in node)) expect(back).toStrictEqual(node);
      }),
      { numRuns: 1500 },
    );
  });

  it('is written without a loss for every type that the target has', () => {
    const exact = fc
      .sample(every, { numRuns: 3_000, seed: 125 })
      .filter((node) => isExact(target, named(target, node)));
    expect([...new Set(exact.map(({ type }) => type))]).toEqual(expect.arrayContaining(TYPES[target]));
  });
});

function isExact(target: PublicationTarget, node: ProxyNode): boolean {
  try {
    return writeNode(target, node).lost.length === 0;
  } catch (error) {
    if (error instanceof Unsayable) return false;
    throw error;
  }
}

const OF_EVERY = ['anytls', 'http', 'socks5', 'ss', 'trojan', 'vmess'];
const LINKS = [...OF_EVERY, 'hysteria', 'hysteria2', 'mieru', 'ssr', 'tuic', 'vless', 'wireguard'];
/** The types that the sample has without a loss: nothing is proved by a writer that writes nothing. */
const TYPES: Record<PublicationTarget, string[]> = {
  clash: [...LINKS, 'snell', 'ssh'],
  'sing-box': [...OF_EVERY, 'hysteria2', 'ssh', 'tuic', 'vless', 'wireguard'],
  surge: [...OF_EVERY, 'hysteria2', 'snell', 'ssh', 'tuic'],
  loon: [...OF_EVERY, 'hysteria2', 'ssr', 'vless'],
  'quantumult-x': [...OF_EVERY, 'ssr', 'vless'],
  links: LINKS,
  base64: LINKS,
};
