import { expect, it } from 'vitest';
import { siteSets } from './site-sets.js';

const entriesOf = (code: string): string[] | null => (code.startsWith('no') ? null : [`DOMAIN,${code}.example`]);
const rule = (type: 'GEOSITE' | 'AND' | 'DOMAIN', payload: string) => ({ type, payload });

it('makes one set for each list, also for those in conditions, under the name that the kernel uses', () => {
  const rules = [
    rule('GEOSITE', 'CN'),
    rule('GEOSITE', 'cn'),
    rule('AND', '((NOT,((GEOSITE,google@cn))),(GEOSITE,ads),(NETWORK,udp))'),
    rule('GEOSITE', 'nothing'),
    rule('DOMAIN', '(GEOSITE,hidden)'),
  ];
  expect(siteSets(rules, entriesOf)).toEqual([
    { name: 'geosite:cn', behavior: 'classical', entries: ['DOMAIN,cn.example'] },
    { name: 'geosite:google@cn', behavior: 'classical', entries: ['DOMAIN,google@cn.example'] },
    { name: 'geosite:ads', behavior: 'classical', entries: ['DOMAIN,ads.example'] },
  ]);
});

it('looks up nothing if no rule names a list', () => {
  const asked: string[] = [];
  siteSets([rule('DOMAIN', 'a')], (code) => (asked.push(code), null));
  expect(asked).toEqual([]);
});
