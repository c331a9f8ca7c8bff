import { describe, expect, it } from 'vitest';
import { parseSubscription } from '../parse-subscription.js';

const PROXIES = 'proxies:\n  - {name: a, type: http, server: h.example, port: 1}\n';
const RULES = ['DOMAIN-SUFFIX,example.com,PROXY', 'IP-CIDR,10.0.0.0/8,DIRECT,no-resolve', 'MATCH,PROXY'];
const rulesOf = (text: string, rules = true) => parseSubscription(text, { profile: rules }).profile?.rules ?? [];

describe('rules of a subscription', () => {
  it.each([
    ['plain', `${PROXIES}rules:\n${RULES.map((rule) => `  - ${rule}`).join('\n')}\nother: 1\n`],
    [
      'not indented, CRLF',
      `${PROXIES}rules:\n${RULES.map((rule) => `- ${rule}`).join('\n')}\n`.replaceAll('\n', '\r\n'),
    ],
    [
      'quoted, with comments',
      `rules: # all\n\n  # first\n${RULES.map((rule) => `  - '${rule}' # why`).join('\n')}\n${PROXIES}`,
    ],
    ['a flow list', `${PROXIES}rules: [${RULES.map((rule) => `"${rule}"`).join(', ')}]\n`],
    ['JSON', JSON.stringify({ proxies: [], rules: RULES })],
    ['Surge', `[Proxy]\na = http, h.example, 1\n[Rule]\n# c\n${RULES.join('\n')}\n[Host]\nx = 1,2\n`],
  ])('%s', (_what, text) => {
    expect(rulesOf(text)).toEqual(RULES);
  });

  it('may be quoted with escapes', () => {
    const quoted = ['"DOMAIN-REGEX,^ad\\\\d+\\\\.,A \\"B\\"" # why', "'DOMAIN,a.example,it''s'", '"no \\q escape,x"'];
    expect(rulesOf(`${PROXIES}rules:\n${quoted.map((line) => `  - ${line}\n`).join('')}`)).toEqual([
      'DOMAIN-REGEX,^ad\\d+\\.,A "B"',
      "DOMAIN,a.example,it's",
    ]);
  });

  it('are read only if requested, and never cause an error', () => {
    expect(rulesOf(`${PROXIES}rules:\n  - MATCH,DIRECT\n`, false)).toEqual([]);
    expect(rulesOf(`${PROXIES}rules: {a: b}\n`)).toEqual([]);
    expect(rulesOf(`${PROXIES}rules:\n  - 'MATCH,DIRECT\n  - 7\n  - {a: b}\n  - MATCH,REJECT\n`)).toEqual([
      'MATCH,REJECT',
    ]);
    expect(rulesOf('trojan://p@h.example:443#rules: a,b')).toEqual([]);
  });
});
