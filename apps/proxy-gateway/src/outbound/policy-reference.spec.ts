import { AppError } from '@gatehouse/platform';
import { describe, expect, it } from 'vitest';
import { resolvePolicy } from './policy-reference.js';
import type { PolicyOption } from './policy-reference.js';

const options: PolicyOption[] = [
  { tag: 'n1', name: 'Tokyo', problem: null },
  { tag: 'n2', name: 'Twin', problem: null },
  { tag: 'n3', name: 'Twin', problem: null },
  { tag: 'n4', name: 'n1', problem: null },
  { tag: 'n6', name: 'Same', qualified: ['Alpha/Same'], problem: null },
  { tag: 'n7', name: 'Same', qualified: ['Beta/Same', 'Gamma/Same'], problem: null },
  { tag: 'n5', name: 'Off', problem: 'is disabled' },
  { tag: 'AUTO', name: 'AUTO', problem: null },
  { tag: 'DIRECT', name: 'DIRECT', problem: null },
];

function refusal(text: string): AppError {
  try {
    resolvePolicy(text, options, 'proxy');
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('it was not refused');
}

describe('resolvePolicy', () => {
  it.each([
    ['n1', 'n1'],
    ['1', 'n1'],
    ['Tokyo', 'n1'],
    ['n3', 'n3'],
    ['AUTO', 'AUTO'],
    ['DIRECT', 'DIRECT'],
    ['direct', 'DIRECT'],
    ['Alpha/Same', 'n6'],
    ['Gamma/Same', 'n7'],
  ])('%s → %s', (text, tag) => {
    expect(resolvePolicy(text, options, 'proxy').tag).toBe(tag);
  });

  it('asks which one if several nodes share the name', () => {
    const error = refusal('Twin');
    expect([error.status, error.message]).toEqual([409, '2 nodes are called "Twin": use n2 or n3.']);
  });

  it('names the subscription of each', () => {
    expect(refusal('Same').message).toBe('2 nodes are called "Same": use n6 ("Alpha/Same") or n7 ("Beta/Same").');
  });

  it.each(['tokyo', 'n9', '', 'auto', 'REJECT'])('finds nothing for %j', (text) => {
    expect(refusal(text)).toMatchObject({ status: 422, details: [{ field: 'proxy' }] });
  });

  it('says why a target cannot be chosen', () => {
    expect(refusal('Off').message).toBe('Off is disabled.');
  });
});
