import { describe, expect, it } from 'vitest';
import { propertySchema } from './property-schema.js';

const rule = (name: string, constraints: unknown[] = [], each = false) => ({
  name,
  type: 'customValidation',
  propertyName: 'field',
  constraints,
  each,
});

describe('the schema of a validated property', () => {
  it('states limits of numbers and texts', () => {
    expect(propertySchema(Number, [rule('isInt'), rule('min', [1]), rule('max', [500])])).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 500,
    });
    expect(propertySchema(String, [rule('isNotEmpty'), rule('maxLength', [9])])).toEqual({
      type: 'string',
      minLength: 1,
      maxLength: 9,
    });
  });

  it('finds the type if the compiler left none', () => {
    expect(propertySchema(Object, [rule('isIn', [['a', 'b']])])).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(propertySchema(Object, [rule('matches', [/^[A-Z]{2}$/])])).toEqual({
      type: 'string',
      pattern: '^[A-Z]{2}$',
    });
  });

  it('distinguishes rules of a list from rules of its items', () => {
    const rules = [
      rule('arrayMaxSize', [3]),
      rule('arrayUnique', []),
      rule('isString', [], true),
      rule('maxLength', [5], true),
    ];
    expect(propertySchema(Array, rules)).toEqual({
      type: 'array',
      maxItems: 3,
      uniqueItems: true,
      items: { type: 'string', maxLength: 5 },
    });
  });

  it('keeps every pattern, in a form that other validators accept', () => {
    const rules = [rule('matches', [/^\P{Cc}*$/u]), rule('matches', [/^x/])];
    const schema = propertySchema(String, rules);
    expect(schema).toEqual({
      type: 'string',
      pattern: String.raw`^[^\x00-\x1f\x7f-\x9f]*$`,
      allOf: [{ pattern: '^x' }],
    });
    const pattern = new RegExp(String(schema['pattern']));
    expect(['a\u0000', 'a\u0085', 'é ~'].map((text) => pattern.test(text))).toEqual([false, false, true]);
  });

  it('spells out the classes of Unicode', () => {
    const patternOf = (written: RegExp): string =>
      String(propertySchema(String, [rule('matches', [written])])['pattern']);
    expect(patternOf(/^[^\p{Cs}]*$/u)).toBe(String.raw`^[^\ud800-\udfff]*$`);
    // Halves of surrogate pairs beside control characters make some validators skip the pattern.
    const pattern = patternOf(/^[^:\p{Cc}\p{Cs}]*$/u);
    expect(pattern).toBe(String.raw`^[^:\x00-\x1f\x7f-\x9f]*$`);
    // JSON Schema reads patterns with the flag u.
    const read = new RegExp(pattern, 'u');
    expect(['a\u0085', 'a:', 'a \u{1f600}'].map((text) => read.test(text))).toEqual([false, false, true]);
  });

  it('leaves out a pattern that ignores case or needs sets of characters, which a schema cannot express', () => {
    expect(propertySchema(String, [rule('matches', [/^a$/i])])).toEqual({ type: 'string' });
    expect(propertySchema(String, [rule('matches', [new RegExp(String.raw`^\p{RGI_Emoji}$`, 'v')])])).toEqual({
      type: 'string',
    });
  });
});
