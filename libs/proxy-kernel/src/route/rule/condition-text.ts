/** Conditions in Clash's form: `TYPE,payload[,options]`, in parentheses inside AND, OR and NOT. */
import type { RuleType } from '../../interfaces/config.js';
import { RuleError } from './rule-error.js';
import { isLogicRule, resolveType, type RuleCondition } from './rule-type.js';

/** Types whose payload may contain commas, so that no options can follow. */
const COMMA_PAYLOAD: ReadonlySet<RuleType> = new Set(['DOMAIN-REGEX', 'DST-PORT', 'SRC-PORT', 'IN-PORT']);
const MAX_CONDITIONS = 256;

export interface ConditionParts {
  type: RuleType;
  src?: true;
  payload: string;
  /** The fields after the payload, trimmed: the target if there is one, then options. */
  rest: string[];
}

export function holdsCommas(type: RuleType): boolean {
  return COMMA_PAYLOAD.has(type);
}

/** `withTarget`: the last field of a payload with commas is the target. @throws RuleError */
export function splitCondition(text: string, withTarget: boolean): ConditionParts {
  const comma = text.indexOf(',');
  const word = comma < 0 ? text : text.slice(0, comma);
  const resolved = resolveType(word.trim());
  const body = comma < 0 ? null : text.slice(comma + 1).trim();
  return { ...resolved, ...splitBody(resolved.type, body, withTarget) };
}

/** @throws RuleError */
export function parseCondition(text: string): RuleCondition {
  const { type, src, payload, rest } = splitCondition(text, false);
  const condition: RuleCondition = { type, payload };
  if (src) condition.src = true;
  applyOptions(condition, rest);
  return condition;
}

/** @throws RuleError for an unknown option. */
export function applyOptions(rule: { noResolve?: boolean; src?: boolean }, options: readonly string[]): void {
  for (const option of options) {
    if (option === 'no-resolve') rule.noResolve = true;
    else if (option === 'src') rule.src = true;
    else throw new RuleError('payload', `${quoted(option)} is not an option (no-resolve, src)`);
  }
}

/** Splits `((DOMAIN,a.com),(NETWORK,udp))` into its conditions. @throws RuleError */
export function splitConditions(payload: string): string[] {
  const inner = payload.startsWith('(') && closing(payload, 0) === payload.length - 1 ? payload.slice(1, -1) : null;
  if (inner === null) throw new RuleError('payload', `${quoted(payload)} is not a list in parentheses: ((A,b),(C,d))`);
  const conditions: string[] = [];
  for (let at = skip(inner, 0, /\s/); at < inner.length;) {
    const end = inner[at] === '(' ? closing(inner, at) : -1;
    if (end < 0) throw new RuleError('payload', `each condition of ${quoted(payload)} needs its own parentheses`);
    conditions.push(inner.slice(at + 1, end).trim());
    if (conditions.length > MAX_CONDITIONS) throw new RuleError('payload', `more than ${MAX_CONDITIONS} conditions`);
    at = skip(inner, end + 1, /[\s,]/);
  }
  return conditions;
}

function splitBody(type: RuleType, body: string | null, withTarget: boolean): Pick<ConditionParts, 'payload' | 'rest'> {
  if (type === 'MATCH') return { payload: '', rest: body === null ? [] : fieldsOf(body) };
  const text = body ?? '';
  if (COMMA_PAYLOAD.has(type)) {
    const last = withTarget ? text.lastIndexOf(',') : text.length;
    const rest = withTarget && last >= 0 ? [text.slice(last + 1).trim()] : [];
    return { payload: last < 0 ? text : text.slice(0, last).trim(), rest };
  }
  if (isLogicRule({ type, payload: '' }) && text.startsWith('(')) {
    const end = closing(text, 0);
    const after = text.slice(end + 1).trim();
    if (end < 0) throw new RuleError('payload', 'a parenthesis is not closed');
    if (after !== '' && !after.startsWith(','))
      throw new RuleError('payload', 'a comma is missing behind the conditions');
    return { payload: text.slice(0, end + 1), rest: after === '' ? [] : fieldsOf(after.slice(1)) };
  }
  const [payload = '', ...rest] = fieldsOf(text);
  return { payload, rest };
}

function fieldsOf(text: string): string[] {
  return text.split(',').map((field) => field.trim());
}

/** The position of the parenthesis that closes the one at `open`; -1 if there is none. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at;
  }
  return -1;
}

function skip(text: string, from: number, what: RegExp): number {
  let at = from;
  while (at < text.length && what.test(text[at] ?? '')) at++;
  return at;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
