import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyNode, linklessNode } from '../test/other-node-arbitraries.js';
import { dialableNode } from '../test/node-arbitraries.js';
import { sayable, toSingBoxOutbound } from '../test/sing-box-outbound.js';
import { fingerprintNode } from './fingerprint.js';
import { formatLink } from './links/registry.js';
import { parseSubscription } from './parse-subscription.js';
import { formatClashDocument, formatNodeLine } from './write-nodes.js';
import { parseRawConfig } from './raw-config.js';

const every = fc.oneof({ weight: 4, arbitrary: anyNode }, linklessNode);
const distinct = (arbitrary: typeof every) =>
  fc.uniqueArray(arbitrary, { minLength: 1, maxLength: 6, selector: fingerprintNode });
const nodesOf = (text: string) => {
  const result = parseSubscription(text);
  expect(result.skipped).toEqual([]);
  return result.nodes.map(({ node }) => node);
};

describe('written nodes read back', () => {
  it('as plain text, every type', () => {
    fc.assert(
      fc.property(distinct(every), (nodes) => {
        expect(nodesOf(nodes.map(formatNodeLine).join('\n'))).toStrictEqual(nodes);
        for (const node of nodes) expect(parseRawConfig('', formatNodeLine(node))).toStrictEqual(node);
      }),
      { numRuns: 300 },
    );
  });

  it('as a Clash document, every type', () => {
    fc.assert(
      fc.property(distinct(every), (nodes) => {
        expect(nodesOf(formatClashDocument(nodes))).toStrictEqual(nodes);
      }),
      { numRuns: 300 },
    );
    expect(parseSubscription(formatClashDocument([])).error?.code).toBe('no_entries');
  });

  it('as a sing-box outbound, where sing-box has one', () => {
    let compared = 0;
    fc.assert(
      fc.property(dialableNode.map(sayable), (node) => {
        const outbound = toSingBoxOutbound(node);
        if (outbound === undefined) return;
        compared += 1;
        const [entry, ...more] = parseSubscription(JSON.stringify({ outbounds: [outbound] })).nodes;
        expect(more).toEqual([]);
        expect(entry?.fingerprint).toBe(fingerprintNode(node));
        expect(parseSubscription(formatLink(node)).nodes[0]?.fingerprint).toBe(entry?.fingerprint);
      }),
      { numRuns: 1000 },
    );
    expect(compared).toBeGreaterThan(900);
  });
});

describe('JSON as people write it', () => {
  const node = { type: 'http', name: 'a', server: 'h.example', port: 1, username: "it's", password: '// no # comment' };

  it.each([
    [
      'sing-box with comments and trailing commas',
      `{
        // the servers
        "outbounds": [
          { "type": "http", "tag": "a", "server": "h.example", "server_port": 1, /* user */
            "username": "it's", "password": "// no # comment", }, // last
        ],
      }`,
    ],
    [
      'a JSON5 Clash document',
      `{proxies: [{name: 'a', type: 'http', server: 'h.example', port: 1, username: 'it\\'s', password: '// no # comment',},],}`,
    ],
    [
      'one entry without a list',
      JSON.stringify({
        name: 'a',
        type: 'http',
        server: 'h.example',
        port: 1,
        username: "it's",
        password: node.password,
      }),
    ],
  ])('%s', (_what, text) => {
    expect(nodesOf(text)).toStrictEqual([node]);
  });

  it('does not change valid JSON, and never throws', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const padded = `{"outbounds": [], "x": ${json}, }`;
        expect(parseSubscription(padded).error?.code).toBe('no_entries');
      }),
    );
    fc.assert(
      fc.property(fc.string(), (noise) => {
        expect(() => parseSubscription(`{${noise}`)).not.toThrow();
      }),
    );
  });
});
