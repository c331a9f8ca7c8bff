import { AppError } from '@gatehouse/platform';
import { describe, expect, it } from 'vitest';
import { rawOf, readDefinition } from './rule-definition.js';
import type { RuleBody } from './rule.dto.js';

const current = { type: 'IP-CIDR', payload: '10.0.0.0/8', target: 'PROXY', noResolve: true, src: false };

/** The fields named in the refusal of a body. */
function refusedFields(body: RuleBody, before?: typeof current): string[] {
  try {
    readDefinition(body, before);
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_ARGUMENT') return error.details.map(({ field }) => field);
    throw error;
  }
  return [];
}

describe('readDefinition', () => {
  it('reads fields and the same rule as a line', () => {
    const expected = { type: 'IP-CIDR', payload: '10.0.0.0/8', target: 'PROXY', noResolve: true, src: false };
    expect(readDefinition({ type: 'IP-CIDR', payload: '10.0.0.0/8', target: 'PROXY', no_resolve: true })).toEqual(
      expected,
    );
    expect(readDefinition({ raw: 'ip-cidr, 10.0.0.0/8 ,PROXY,no-resolve' })).toEqual(expected);
    expect(readDefinition({ type: 'MATCH', target: 'DIRECT' })).toMatchObject({ payload: '' });
  });

  it('keeps fields that a change does not mention', () => {
    expect(readDefinition({ enabled: false }, current)).toEqual(current);
    expect(readDefinition({ target: 'DIRECT' }, current)).toEqual({ ...current, target: 'DIRECT' });
    expect(readDefinition({ raw: 'DOMAIN,a.example,DIRECT' }, current)).toEqual({
      type: 'DOMAIN',
      payload: 'a.example',
      target: 'DIRECT',
      noResolve: false,
      src: false,
    });
  });

  it.each<[RuleBody, string[]]>([
    [{}, ['type', 'target']],
    [{ type: 'DOMAIN', payload: 'a.example' }, ['target']],
    [{ type: 'NOSUCH', payload: 'x', target: 'DIRECT' }, ['type']],
    [{ type: 'IP-CIDR', payload: '10.0.0.0/33', target: 'DIRECT' }, ['payload']],
    [{ type: 'DOMAIN', target: 'DIRECT' }, ['payload']],
    [{ type: 'DOMAIN-REGEX', payload: '(', target: 'DIRECT' }, ['payload']],
    [{ type: 'DST-PORT', payload: '70000', target: 'DIRECT' }, ['payload']],
    [{ raw: 'DOMAIN,a.example' }, ['raw']],
    [{ raw: 'DOMAIN,a.example,DIRECT', type: 'DOMAIN' }, ['type']],
    [{ type: 'MATCH', target: 'DIRECT', priority: 1, before_id: 2 }, ['priority', 'before_id']],
    [{ type: 'MATCH', target: 'DIRECT', before_id: 1, after_id: 2 }, ['before_id', 'after_id']],
  ])('refuses %j naming %j', (body, fields) => {
    expect(refusedFields(body)).toEqual(fields);
  });

  it('refuses a change that makes a rule impossible', () => {
    expect(refusedFields({ payload: 'example.com' }, current)).toEqual(['payload']);
  });
});

describe('rawOf', () => {
  it('writes a line that is read back as the same rule', () => {
    expect(rawOf(current)).toBe('IP-CIDR,10.0.0.0/8,PROXY,no-resolve');
    expect(readDefinition({ raw: rawOf(current) })).toEqual(current);
    expect(rawOf({ type: 'MATCH', payload: '', target: 'DIRECT', noResolve: false, src: false })).toBe('MATCH,DIRECT');
  });

  it('shows a target that a line cannot contain', () => {
    expect(rawOf({ ...current, target: 'a,b' })).toBe('IP-CIDR,10.0.0.0/8,a,b');
  });
});
