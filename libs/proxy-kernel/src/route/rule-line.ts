/** Rules in Clash's form, one per line: `TYPE,payload,target[,no-resolve][,src]`. */
import type { RuleConfig } from '../interfaces/config.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { applyOptions, holdsCommas, splitCondition } from './rule/condition-text.js';
import { EMPTY_CONTEXT, createMatcher } from './rule/create-matcher.js';
import { RuleError } from './rule/rule-error.js';
import { isLogicRule } from './rule/rule-type.js';

/** A rule without its origin, as in a line of text or a request body. */
export type RuleDefinition = Omit<RuleConfig, 'id' | 'source'>;

const MAX_LINE = 2048;
const MAX_LOGIC_LINE = 16_384;

/** What is wrong with a rule, for users; null if it is valid. Does not check whether the target exists. */
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
function checkRule(rule: RuleDefinition): void {
  if (/[\r\n]/.test(rule.payload) || rule.payload !== rule.payload.trim()) {
    throw new RuleError('payload', 'has a line break, or a space at an end');
  }
  if (rule.payload.length > MAX_LOGIC_LINE) {
    throw new RuleError('payload', `longer than ${MAX_LOGIC_LINE} characters`);
  }
  createMatcher(rule, EMPTY_CONTEXT);
  checkTarget(rule.target);
}

/** @throws RuleError */
export function checkTarget(target: string): void {
  if (target === '') throw new RuleError('target', 'is missing');
}

/** @throws KernelConfigError with what is wrong with the line. */
export function parseRuleLine(line: string): RuleDefinition {
  try {
    return readLine(line.trim());
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    throw new KernelConfigError('rule', `${error.field}: ${error.message}`);
  }
}

/**
 * The line that `parseRuleLine` reads as the same rule. @throws KernelConfigError for a rule that a line cannot
 * express.
 */
export function formatRuleLine(rule: RuleDefinition): string {
  if (/[,\r\n]/.test(rule.target) || rule.target !== rule.target.trim()) throw unwritable('target', rule.target);
  const { type, payload, target } = rule;
  if (/[\r\n]/.test(payload) || payload !== payload.trim()) throw unwritable('payload', payload);
  if (holdsCommas(type)) return [type, payload, target].join(',');
  if (payload.includes(',') && !isLogicRule(rule)) throw unwritable('payload', payload);
  const head = type === 'MATCH' ? [type] : [type, payload];
  return [...head, target, ...(rule.noResolve ? ['no-resolve'] : []), ...(rule.src ? ['src'] : [])].join(',');
}

/** @throws RuleError, KernelConfigError */
function readLine(line: string): RuleDefinition {
  const limit = /^(AND|OR|NOT)\b/i.test(line) ? MAX_LOGIC_LINE : MAX_LINE;
  if (line.length > limit) throw new KernelConfigError('rule', `longer than ${limit} characters`);
  const { type, src, payload, rest } = splitCondition(line, true);
  const [target, ...options] = rest;
  if (target === undefined && type !== 'MATCH') {
    throw new KernelConfigError('rule', `needs a payload and a target: ${type},payload,target`);
  }
  const rule: RuleDefinition = { type, payload, target: target ?? '' };
  if (src) rule.src = true;
  applyOptions(rule, options);
  checkRule(rule);
  return rule;
}

function unwritable(field: string, text: string): KernelConfigError {
  return new KernelConfigError(field, `${JSON.stringify(text.slice(0, 80))} cannot be written in a rule line`);
}
