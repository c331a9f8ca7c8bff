import { describe, expect, it } from 'vitest';
import type { ConfigGroup, ConfigNode } from './kernel-config.mapper.js';
import { countryChanges } from './country-groups.js';

const node = (country: string | null, more: Partial<ConfigNode> = {}) =>
  ({ country, alive: null, unsupportedReason: null, ...more }) as ConfigNode;
const group = (country: string) => ({ automatic: true, country, name: country }) as ConfigGroup;

describe('countryChanges', () => {
  it('adds a group for each country with a node that may be alive', () => {
    const nodes = [
      node('JP'),
      node('JP', { alive: false }),
      node('FR', { alive: true }),
      node('US', { alive: false }),
      node('DE', { unsupportedReason: 'needs QUIC' }),
      node(null),
    ];
    expect(countryChanges({ nodes, groups: [] })).toEqual({ added: ['FR', 'JP'], removed: [] });
  });

  it('removes a group with its last usable node, not because of a measurement', () => {
    const nodes = [node('JP', { alive: false }), node('FR', { unsupportedReason: 'x' })];
    const groups = [group('JP'), group('FR'), group('US')];
    expect(countryChanges({ nodes, groups })).toEqual({ added: [], removed: ['FR', 'US'] });
  });

  it('does not touch groups that users made', () => {
    expect(countryChanges({ nodes: [], groups: [{ ...group('JP'), automatic: false }] }).removed).toEqual([]);
  });
});
