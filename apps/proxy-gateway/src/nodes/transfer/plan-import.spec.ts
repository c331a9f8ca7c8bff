import type { ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { planImport } from './plan-import.js';
import type { ExistingNode } from './plan-import.js';
import type { ImportEntry } from './read-import.js';

const node = (name: string): ProxyNode => ({ type: 'http', name, server: '192.0.2.1', port: 1 });
const entry = (fingerprint: string, more: Partial<ImportEntry> = {}): ImportEntry => ({
  index: 0,
  line: null,
  node: node(fingerprint),
  fingerprint,
  labels: {},
  complete: true,
  ...more,
});
const existing = (id: number, fingerprint: string, more: Partial<ExistingNode> = {}): ExistingNode => ({
  id,
  fingerprint,
  source: 'manual',
  name: fingerprint,
  carried: false,
  enabled: true,
  country: null,
  tags: [],
  ...more,
});
const plan = (rows: ExistingNode[], entries: ImportEntry[], mode: 'append' | 'replace' = 'append', same = true) =>
  planImport(rows, entries, mode, () => same);
const actions = (...parameters: Parameters<typeof plan>) => plan(...parameters).entries.map(({ action }) => action);

describe('planImport', () => {
  it('creates new nodes and leaves equal ones unchanged', () => {
    expect(actions([existing(1, 'a')], [entry('a'), entry('b')])).toEqual(['unchanged', 'created']);
  });

  it('updates names, definitions, labels, and nodes that only a subscription brought', () => {
    expect(actions([existing(1, 'a', { name: 'x' })], [entry('a')])).toEqual(['updated']);
    expect(actions([existing(1, 'a')], [entry('a')], 'append', false)).toEqual(['updated']);
    expect(actions([existing(1, 'a')], [entry('a', { labels: { enabled: false } })])).toEqual(['updated']);
    expect(actions([existing(1, 'a')], [entry('a', { labels: { country: 'NL' } })])).toEqual(['updated']);
    expect(actions([existing(1, 'a')], [entry('a', { labels: { tags: ['x'] } })])).toEqual(['updated']);
    expect(actions([existing(1, 'a', { source: 'subscription', carried: true })], [entry('a')])).toEqual(['updated']);
  });

  it('does not redefine nodes from a less complete form, nor those of a subscription', () => {
    expect(actions([existing(1, 'a')], [entry('a', { complete: false })], 'append', false)).toEqual(['unchanged']);
    expect(actions([existing(1, 'a', { carried: true })], [entry('a')], 'append', false)).toEqual(['unchanged']);
    const { change } = plan([existing(1, 'a', { carried: true, name: 'x' })], [entry('a')], 'append', false);
    expect(change).toEqual([{ id: 1, definition: null, customName: 'a', labels: {} }]);
  });

  it('removes manual nodes that a replacing import does not name', () => {
    const rows = [existing(1, 'a'), existing(2, 'b'), existing(3, 'c', { source: 'subscription' })];
    expect(plan(rows, [entry('a')], 'replace').remove).toEqual([{ id: 2, name: 'b' }]);
    expect(plan(rows, [entry('a')], 'append').remove).toEqual([]);
  });
});
