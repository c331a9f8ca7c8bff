/** Rules as Clash writes them, one a line: `TYPE,payload,target[,no-resolve][,src]`. */
import type { RuleConfig, RuleType } from '../interfaces/config.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { RULE_TYPES, createMatcher } from './rule/create-matcher.js';
import { RuleError } from './rule/rule-error.js';

/** A rule without its origin: what a line of text or a request body says. */
export type RuleDefinition = Omit<RuleConfig, 'id' | 'source'>;

const MAX_LINE = 2048;
/** Other spellings in use: mihomo's rules on the client's address, Surge's last rule. */
const ALIASES: Readonly<Record<string, { type: RuleType; src?: true }>> = {
  'SRC-IP-CIDR': { type: 'IP-CIDR', src: true },
  'SRC-GEOIP': { type: 'GEOIP', src: true },
  FINAL: { type: 'MATCH' },
};
/** Their payload may hold commas, so the last field is the target and there are no options. */
const COMMA_PAYLOAD: ReadonlySet<RuleType> = new Set(['DOMAIN-REGEX', 'DST-PORT']);

/** What is wrong with a rule, fit to be shown; null when nothing is. Whether the target exists is not looked at. */
export function validateRule(rule: RuleDefinition): string | null {
  try {
    checkRule(rule);
    return null;
  } catch (error) {
    if (error instanceof RuleError) return `${error.field}: ${error.message}`;
    throw error;
  }
}

/** @throws RuleError */
export function checkRule(rule: RuleDefinition): void {
  createMatcher(rule, () => null);
  checkTarget(rule.target);
}

/** @throws RuleError */
export function checkTarget(target: string): void {
  if (target === '') throw new RuleError('target', 'is missing');
}

/** @throws KernelConfigError saying what is wrong with the line. */
export function parseRuleLine(line: string): RuleDefinition {
  if (line.length > MAX_LINE) throw new KernelConfigError('rule', `longer than ${MAX_LINE} characters`);
  const [word = '', ...fields] = line.split(',').map((field) => field.trim());
  const { type, src } = resolveType(word.toUpperCase());
  const { payload, target, options } = splitFields(type, fields);
  const rule: RuleDefinition = { type, payload, target };
  if (src) rule.src = true;
  for (const option of options) {
    if (option === 'no-resolve') rule.noResolve = true;
    else if (option === 'src') rule.src = true;
    else
      throw new KernelConfigError('rule', `${JSON.stringify(option.slice(0, 80))} is not an option (no-resolve, src)`);
  }
  const problem = validateRule(rule);
  if (problem !== null) throw new KernelConfigError('rule', problem);
  return rule;
}

/** The line that `parseRuleLine` reads back to the same rule. @throws KernelConfigError for a target that a line cannot hold. */
export function formatRuleLine(rule: RuleDefinition): string {
  if (/[,\r\n]/.test(rule.target) || rule.target !== rule.target.trim()) {
    throw new KernelConfigError(
      'target',
      `${JSON.stringify(rule.target.slice(0, 80))} cannot be written in a rule line`,
    );
  }
  const head = rule.type === 'MATCH' ? ['MATCH'] : [rule.type, rule.payload];
  if (COMMA_PAYLOAD.has(rule.type)) return [...head, rule.target].join(',');
  return [...head, rule.target, ...(rule.noResolve ? ['no-resolve'] : []), ...(rule.src ? ['src'] : [])].join(',');
}

function resolveType(word: string): { type: RuleType; src?: true } {
  const type = RULE_TYPES.find((known) => known === word);
  const alias = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (type) return { type };
  if (alias) return alias;
  throw new KernelConfigError('rule', `type: ${JSON.stringify(word.slice(0, 80))} is not a known rule type`);
}

function splitFields(type: RuleType, fields: string[]): { payload: string; target: string; options: string[] } {
  if (type === 'MATCH') return { payload: '', target: fields[0] ?? '', options: fields.slice(1) };
  if (fields.length < 2) throw new KernelConfigError('rule', `needs a payload and a target: ${type},payload,target`);
  if (COMMA_PAYLOAD.has(type))
    return { payload: fields.slice(0, -1).join(','), target: fields.at(-1) ?? '', options: [] };
  return { payload: fields[0] ?? '', target: fields[1] ?? '', options: fields.slice(2) };
}
