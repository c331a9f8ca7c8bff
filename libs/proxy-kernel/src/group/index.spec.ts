import { describe, expect, it } from 'vitest';
import type { GroupConfig } from '../interfaces/config.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { createPolicyTable } from './index.js';

const nodes = new Map([
  ['n1', { udp: true }],
  ['n2', { udp: false }],
]);
const group = (name: string, members: string[], selected?: string): GroupConfig => ({
  name,
  type: 'select',
  members,
  ...(selected === undefined ? {} : { selected }),
});
const failure = (run: () => unknown): KernelConfigError => {
  try {
    run();
  } catch (error) {
    if (error instanceof KernelConfigError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('policy table', () => {
  it('has the built-ins, all of them with UDP', () => {
    const table = createPolicyTable(new Map(), []);
    for (const tag of ['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS']) {
      expect(table.has(tag)).toBe(true);
      expect(table.supportsUdp(tag)).toBe(true);
      expect(table.chain(tag)).toEqual([tag]);
    }
  });

  it('walks nested groups down to the outbound', () => {
    const table = createPolicyTable(nodes, [group('OUTER', ['INNER', 'DIRECT']), group('INNER', ['n1', 'n2'], 'n2')]);
    expect(table.chain('OUTER')).toEqual(['OUTER', 'INNER', 'n2']);
    expect(table.supportsUdp('OUTER')).toBe(false);
    table.select('INNER', 'n1');
    expect(table.chain('OUTER')).toEqual(['OUTER', 'INNER', 'n1']);
    expect(table.supportsUdp('OUTER')).toBe(true);
    table.select('OUTER', 'DIRECT');
    expect(table.chain('OUTER')).toEqual(['OUTER', 'DIRECT']);
    expect(table.selected('INNER')).toBe('n1');
  });

  it('uses the first member when the selected one was removed', () => {
    const table = createPolicyTable(nodes, [group('G', ['n9', 'n2', 'n1'], 'n9')]);
    expect(table.selected('G')).toBe('n2');
    expect(table.warnings).toEqual(['group G: member n9 does not exist']);
    expect(table.groups()).toEqual([{ name: 'G', type: 'select', members: ['n2', 'n1'], now: 'n2', fixed: false }]);
  });

  it('rejects through an empty group and through an unknown tag', () => {
    const table = createPolicyTable(nodes, [group('EMPTY', []), group('GONE', ['n8'])]);
    expect(table.chain('EMPTY')).toEqual(['EMPTY', 'REJECT']);
    expect(table.chain('GONE')).toEqual(['GONE', 'REJECT']);
    expect(table.selected('EMPTY')).toBeNull();
    expect(table.has('n8')).toBe(false);
    expect(table.chain('n8')).toEqual(['n8', 'REJECT']);
    expect(table.supportsUdp('n8')).toBe(true);
  });

  it('hands out chains that a caller may change', () => {
    const table = createPolicyTable(nodes, [group('G', ['n1'])]);
    table.chain('G').push('broken');
    expect(table.chain('G')).toEqual(['G', 'n1']);
  });

  it('names a cycle', () => {
    const error = failure(() =>
      createPolicyTable(nodes, [
        group('X', ['n1', 'A']),
        group('A', ['n1', 'B']),
        group('B', ['C']),
        group('C', ['A']),
      ]),
    );
    expect(error.path).toBe('groups[1].members');
    expect(error.message).toContain('A -> B -> C -> A');
    expect(failure(() => createPolicyTable(nodes, [group('S', ['S'])])).message).toContain('S -> S');
  });

  it('accepts a diamond and a chain of 20,000 groups', () => {
    const diamond = [group('T', ['L', 'R']), group('L', ['B']), group('R', ['B']), group('B', ['n1'])];
    expect(createPolicyTable(nodes, diamond).chain('T')).toEqual(['T', 'L', 'B', 'n1']);
    const deep = Array.from({ length: 20_000 }, (_, i) => group(`g${i}`, [i === 19_999 ? 'n1' : `g${i + 1}`]));
    expect(createPolicyTable(nodes, deep).chain('g0')).toHaveLength(20_001);
  });

  it('refuses names used twice', () => {
    expect(failure(() => createPolicyTable(nodes, [group('G', []), group('G', [])])).path).toBe('groups[1].name');
    expect(failure(() => createPolicyTable(nodes, [group('n1', [])])).message).toContain('tag of an outbound');
    expect(failure(() => createPolicyTable(nodes, [group('DIRECT', [])])).message).toContain('tag of an outbound');
    expect(failure(() => createPolicyTable(nodes, [group('', [])])).message).toContain('needs a name');
  });

  it('refuses to select an unknown member and keeps the selection', () => {
    const table = createPolicyTable(nodes, [group('G', ['n1'])]);
    expect(failure(() => table.select('G', 'n2')).message).toContain('n2 is not a member');
    expect(failure(() => table.select('NO', 'n2')).message).toContain('no such group');
    expect(failure(() => table.selected('NO')).message).toContain('no such group');
    expect(table.selected('G')).toBe('n1');
  });
});
