import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { httpProxy, shadowsocks, socks5, trojan, vless, vmess } from '../../test/node-arbitraries.js';
import { anyNode, otherNode } from '../../test/other-node-arbitraries.js';
import { fingerprintNode } from '../fingerprint.js';
import { formatLink, parseLink } from './registry.js';

describe('share links', () => {
  const families = { shadowsocks, socks5, httpProxy, trojan, vmess, vless, otherNode };
  for (const [name, arbitrary] of Object.entries(families)) {
    it(`${name}: a formatted link parses back to an equal node`, () => {
      fc.assert(
        fc.property(arbitrary, (node) => {
          const link = formatLink(node);
          expect(parseLink(link)).toStrictEqual(node);
          expect(link).not.toMatch(/\s/);
        }),
        { numRuns: 400 },
      );
    });
  }

  it('formatting is stable: format, parse and format again give the same link', () => {
    fc.assert(
      fc.property(anyNode, (node) => {
        const link = formatLink(node);
        expect(formatLink(parseLink(link))).toBe(link);
      }),
    );
  });

  it('the name does not change the fingerprint, the endpoint does', () => {
    fc.assert(
      fc.property(anyNode, (node) => {
        const print = fingerprintNode(node);
        expect(print).toMatch(/^[0-9a-f]{64}$/);
        expect(fingerprintNode({ ...node, name: `${node.name}!` })).toBe(print);
        expect(fingerprintNode({ ...node, port: (node.port % 65535) + 1 })).not.toBe(print);
        expect(fingerprintNode({ ...node, server: `x.${node.server}` })).not.toBe(print);
      }),
    );
  });
});
