import { RULE_TYPES, validateRule } from '@gatehouse/proxy-kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { RULE_PAYLOADS } from '../../../test/support/rule-payloads.js';
import { TargetNames } from '../target-names.js';
import { formatClash, formatJson, formatText } from './format-rules.js';
import { planImport } from './plan-import.js';
import type { ExistingRule, WantedRule } from './plan-import.js';
import { readRulesArray, readRulesText } from './read-rules.js';
import type { ReadRules } from './read-rules.js';

const NODES = [
  { id: 1, name: '🇯🇵 Tokyo #1: fast' },
  { id: 2, name: 'a,b' },
  { id: 3, name: 'Twin' },
  { id: 4, name: 'Twin' },
  { id: 5, name: 'n1' },
  { id: 6, name: 'DIRECT' },
  { id: 7, name: 'it\'s "quoted"' },
  { id: 8, name: ' padded ' },
  { id: 9, name: '//x' },
  { id: 10, name: 'Plain' },
];
const names = new TargetNames(['PROXY', 'My group: all #1 of them', 'x // y'], NODES);
const TARGETS = ['DIRECT', 'REJECT', 'PROXY', 'My group: all #1 of them', ...NODES.map(({ id }) => `n${id}`)];

const anyDefinition = fc
  .record({
    type: fc.constantFrom(...RULE_TYPES),
    pick: fc.nat(),
    target: fc.constantFrom(...TARGETS),
    noResolve: fc.boolean(),
    src: fc.boolean(),
  })
  .map(({ type, pick, target, noResolve, src }) => {
    const payloads = RULE_PAYLOADS[type] ?? [];
    const rule = { type, payload: payloads[pick % payloads.length] ?? '', target, noResolve, src };
    const addresses = /^(IP-|GEOIP|RULE-SET)/.test(type);
    return addresses ? rule : { ...rule, noResolve: false, src: false };
  })
  .filter((rule) => validateRule(rule) === null);

const anyNote = fc.option(
  fc
    .oneof(fc.constantFrom('office', '"quoted"', ' padded ', 'two\nlines', 'a # b', 'disabled: x'), fc.string())
    .map((text) => text.replaceAll('\0', '')),
  { nil: null },
);
const anyRules = fc
  .array(fc.record({ definition: anyDefinition, enabled: fc.boolean(), note: anyNote }), { maxLength: 20 })
  .map((entries) => {
    const seen = new Set<string>();
    const rules: ExistingRule[] = [];
    for (const { definition, enabled, note } of entries) {
      const key = JSON.stringify(definition);
      if (!seen.has(key))
        rules.push({ id: rules.length + 1, ...definition, enabled, note, priority: rules.length * 7 });
      seen.add(key);
    }
    return rules;
  });

const readable = (rules: readonly ExistingRule[]) =>
  rules.map((rule) => ({ ...rule, target: names.readable(rule.target) }));

function wantedOf({ rules, rejected }: ReadRules): WantedRule[] {
  expect(rejected).toEqual([]);
  return rules.map(({ definition, enabled, note, priority }) => {
    const found = names.find(definition.target);
    if (!('tag' in found)) throw new Error(found.message);
    return { ...definition, target: found.tag, enabled, note, priority };
  });
}

describe('export and import', () => {
  it('has a payload for every type', () => {
    for (const type of RULE_TYPES) {
      expect(RULE_PAYLOADS[type], type).toBeDefined();
      for (const payload of RULE_PAYLOADS[type] ?? []) {
        expect(validateRule({ type, payload, target: 'DIRECT' }), `${type},${payload}`).toBeNull();
      }
    }
  });

  it.each([
    ['json', (rules: ExistingRule[]) => readRulesText(formatJson(rules, new Date(0)))],
    ['json as an array', (rules: ExistingRule[]) => readRulesArray(JSON.parse(formatJson(rules, new Date(0))).rules)],
    ['text', (rules: ExistingRule[]) => readRulesText(formatText(rules, new Date(0)))],
    [
      'text of Windows',
      (rules: ExistingRule[]) => readRulesText(`\uFEFF${formatText(rules, new Date(0)).replaceAll('\n', '\r\n')}`),
    ],
    ['clash', (rules: ExistingRule[]) => readRulesText(formatClash(rules, new Date(0)))],
  ])('%s gives back the same rules in the same order, and nothing to change', async (_format, transfer) => {
    await fc.assert(
      fc.asyncProperty(anyRules, async (rules) => {
        const read = await transfer(readable(rules));
        const wanted = wantedOf(read);
        expect(wanted.map(({ priority: _p, ...rule }) => ({ ...rule, note: rule.note ?? null }))).toEqual(
          rules.map(({ id: _i, priority: _p, ...rule }) => rule),
        );
        expect(planImport('replace', rules, wanted).counts).toEqual({
          created: 0,
          updated: 0,
          unchanged: rules.length,
          duplicate: 0,
          removed: 0,
        });
        expect(read.total).toBeGreaterThanOrEqual(rules.length);
      }),
      { numRuns: 150 },
    );
  });

  it('is YAML that every parser reads as the same lines', async () => {
    await fc.assert(
      fc.asyncProperty(anyRules, async (rules) => {
        const document = parse(formatClash(readable(rules), new Date(0))) as { rules: string[] };
        const { rules: read } = await readRulesText(formatClash(readable(rules), new Date(0)));
        expect(document.rules).toEqual(read.filter(({ enabled }) => enabled).map(({ input }) => input));
      }),
      { numRuns: 150 },
    );
  });
});
