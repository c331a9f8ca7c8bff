import { AppError } from '@gatehouse/platform';
import { formatRuleLine, KernelConfigError, parseRuleLine, validateRule } from '@gatehouse/proxy-kernel';
import type { RuleDefinition, RuleType } from '@gatehouse/proxy-kernel';
import type { RuleBody } from './rule.dto.js';

/** A rule as it is stored. */
export interface StoredDefinition {
  type: string;
  payload: string;
  target: string;
  noResolve: boolean;
  src: boolean;
}

const IN_RAW = ['type', 'payload', 'target', 'no_resolve', 'src'] as const;
const POSITIONS = ['priority', 'before_id', 'after_id'] as const;

/**
 * Reads the rule from a body; its target is still as the user wrote it.
 * @param current the rule to change, whose values are used for fields that are left out.
 * @throws AppError INVALID_ARGUMENT naming each bad field.
 */
export function readDefinition(body: RuleBody, current?: StoredDefinition): StoredDefinition {
  refuseBoth(body, POSITIONS);
  const definition = body.raw === undefined ? fromFields(body, current) : fromLine(body, body.raw);
  const problem = validateRule(toKernelRule(definition));
  if (problem === null) return definition;
  const [, field = 'payload', message = problem] = /^(\w+): (.*)$/s.exec(problem) ?? [];
  throw invalid(body.raw === undefined ? field : 'raw', message);
}

/** The rule as one Clash line. A target with a comma cannot be expressed; it is shown unchanged. */
export function rawOf(rule: StoredDefinition): string {
  const definition = toKernelRule(rule);
  try {
    return formatRuleLine(definition);
  } catch (error) {
    if (!(error instanceof KernelConfigError)) throw error;
    return [rule.type, ...(rule.type === 'MATCH' ? [] : [rule.payload]), rule.target].join(',');
  }
}

function fromFields(body: RuleBody, current: StoredDefinition | undefined): StoredDefinition {
  const type = body.type ?? current?.type;
  const target = body.target ?? current?.target;
  const missing = [...(type === undefined ? ['type'] : []), ...(target === undefined ? ['target'] : [])];
  if (type === undefined || target === undefined)
    throw invalidFields(missing, 'is required (or give the whole rule in raw)');
  return {
    type,
    target,
    payload: (body.payload ?? (type === 'MATCH' ? '' : current?.payload) ?? '').trim(),
    noResolve: body.no_resolve ?? current?.noResolve ?? false,
    src: body.src ?? current?.src ?? false,
  };
}

function fromLine(body: RuleBody, raw: string): StoredDefinition {
  const twice = IN_RAW.filter((field) => body[field] !== undefined);
  if (twice.length > 0) throw invalidFields(twice, 'is already part of raw');
  try {
    const { type, payload, target, noResolve = false, src = false } = parseRuleLine(raw);
    return { type, payload, target, noResolve, src };
  } catch (error) {
    if (!(error instanceof KernelConfigError)) throw error;
    throw invalid('raw', error.message.replace(/^rule: /, ''));
  }
}

export function toKernelRule(rule: StoredDefinition): RuleDefinition {
  const { payload, target, noResolve, src } = rule;
  // validateRule refuses an unknown type.
  return { type: rule.type as RuleType, payload, target, ...(noResolve && { noResolve }), ...(src && { src }) };
}

function refuseBoth(body: RuleBody, fields: readonly (keyof RuleBody)[]): void {
  const given = fields.filter((field) => body[field] !== undefined && body[field] !== null);
  if (given.length > 1)
    throw invalidFields(given, `excludes ${fields.filter((field) => given.includes(field)).join(', ')}`);
}

function invalid(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}

function invalidFields(fields: readonly string[], message: string): AppError {
  const details = fields.map((field) => ({ field, message }));
  return new AppError('INVALID_ARGUMENT', `${fields.join(', ')}: ${message}`, { details });
}
