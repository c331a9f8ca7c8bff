import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { anyNode } from '../../test/other-node-arbitraries.js';
import { readFastEntry, UNUSUAL } from './fast-entry.js';
import { toClashEntry } from './to-entry.js';
import { readYaml } from './yaml-package.js';

type Style = (entry: Record<string, unknown>) => string;

/** The layouts that generators use. */
const STYLES: Record<string, Style> = {
  block: (entry) => stringify([entry], { lineWidth: 0 }),
  blockQuoted: (entry) => stringify([entry], { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' }),
  blockSingle: (entry) => stringify([entry], { lineWidth: 0, defaultStringType: 'QUOTE_SINGLE' }),
  flow: (entry) => `- ${stringify(entry, { collectionStyle: 'flow', lineWidth: 0 }).replaceAll(/\n\s*/g, ' ')}`,
  json: (entry) => `- ${JSON.stringify(entry)}`,
};

function agree(source: string): boolean {
  const fast = readFastEntry(source.replace(/\n$/, '').split('\n'));
  if (fast === UNUSUAL) return false;
  expect(readYaml(source)).toEqual([fast]);
  return true;
}

describe('fast path for Clash entries', () => {
  it('agrees with the YAML package on what generators write', () => {
    let taken = 0;
    let all = 0;
    fc.assert(
      fc.property(anyNode, fc.constantFrom(...Object.values(STYLES)), (node, style) => {
        all += 1;
        if (agree(style(toClashEntry(node)))) taken += 1;
      }),
      { numRuns: 1500 },
    );
    // Otherwise a fast path that reads nothing would pass.
    expect(taken / all).toBeGreaterThan(0.3);
  });

  it('agrees with the YAML package on damaged entries', () => {
    let taken = 0;
    const spice = fc.constantFrom(
      ...'{}[],:#&*!|>\'"%@`?- \n~=<\\\t\r'.split(''),
      ': ',
      ' #',
      '- ',
      '  ',
      'null',
      '\n    ',
      '<<: ',
      '\u00a0',
      '\ufeff',
      '---',
      '"a": ',
      '\\u0041',
      '\\x',
    );
    fc.assert(
      fc.property(
        anyNode,
        fc.constantFrom(...Object.values(STYLES)),
        fc.array(fc.tuple(fc.nat(), fc.nat(3), spice), { minLength: 1, maxLength: 4 }),
        (node, style, edits) => {
          let source = style(toClashEntry(node));
          for (const [at, cut, piece] of edits) {
            const place = at % (source.length + 1);
            source = source.slice(0, place) + piece + source.slice(place + cut);
          }
          // A text cut between CR and LF: the line ends here, but the package reads a stray character.
          source = source.replace(/\r[ ]*$/, '');
          // Only one entry is given; cutting the list has tests of its own.
          if (source.startsWith('- ') && !/\n(?:\S|$)/.test(source.trimEnd()) && agree(source)) taken += 1;
        },
      ),
      { numRuns: 2000 },
    );
    expect(taken).toBeGreaterThan(50);
  });

  it.each([
    [
      'leading zeros and exponents stay text',
      '- {password: 0123, short-id: 1e5, port: 443}',
      { password: '0123', 'short-id': '1e5', port: '443' },
    ],
    [
      'bare null is null, quoted null is text',
      `- {a: ~, b: null, c: 'null', d: "~"}`,
      { a: null, b: null, c: 'null', d: '~' },
    ],
    [
      'colons and hashes inside scalars',
      '- {path: /a?x=1:2, name: a#b, host: 2001:db8::1}',
      { path: '/a?x=1:2', name: 'a#b', host: '2001:db8::1' },
    ],
    ['escapes', "- {name: \"\\U0001F1ED\\U0001F1F0 \\x41\\u00e9\\\"\", b: 'it''s'}", { name: '🇭🇰 Aé"', b: "it's" }],
    [
      'nested block',
      '- name: a\n  ws-opts:\n    headers:\n      Host: h\n  alpn:\n  - h2\n  - http/1.1\n  udp: true',
      { name: 'a', 'ws-opts': { headers: { Host: 'h' } }, alpn: ['h2', 'http/1.1'], udp: 'true' },
    ],
  ])('%s', (_name, source, expected) => {
    expect(readFastEntry(source.split('\n'))).toEqual(expected);
    expect(readYaml(source)).toEqual([expected]);
  });

  it.each([
    '- {a: *b}',
    '- &x {a: b}',
    '- {a: b',
    '- {a: b} # c',
    '- a: |\n    b',
    '- {a: !!str b}',
    '- {__proto__: b}',
    '- {a: 1, a: 2}',
    '- <<: b',
  ])('leaves %j to the package', (source) => {
    expect(readFastEntry(source.split('\n'))).toBe(UNUSUAL);
  });
});
