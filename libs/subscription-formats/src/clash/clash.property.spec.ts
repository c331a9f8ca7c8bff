import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyNode } from '../../test/other-node-arbitraries.js';
import { fingerprintNode } from '../fingerprint.js';
import { formatLink, parseLink } from '../links/registry.js';
import { fromClashEntry } from './from-entry.js';
import { toClashEntry } from './to-entry.js';

describe('Clash entries', () => {
  it('an entry written from a node reads back to an equal node', () => {
    fc.assert(
      fc.property(anyNode, (node) => {
        expect(fromClashEntry(toClashEntry(node))).toStrictEqual(node);
      }),
      { numRuns: 1000 },
    );
  });

  it('the same node as link and as entry has one fingerprint', () => {
    fc.assert(
      fc.property(anyNode, (node) => {
        const print = fingerprintNode(node);
        expect(fingerprintNode(parseLink(formatLink(node)))).toBe(print);
        expect(fingerprintNode(fromClashEntry(JSON.parse(JSON.stringify(toClashEntry(node)))))).toBe(print);
      }),
      { numRuns: 500 },
    );
  });
});
