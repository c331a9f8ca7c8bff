import { IpPatternError, parseRuleMethod, parseRulePath } from '@gatehouse/tunnel-kernel';
import type { EntityManager } from 'typeorm';
import type { IpRule } from '../data/ip-rule.entity.js';
import { fieldError, readField } from '../wire/field-error.js';
import { parseLocation } from '../wire/host-pattern.js';

/** What a rule says about requests; null: any. */
export interface RuleRequests {
  paths: string[] | null;
  methods: string[] | null;
}

/** A rule with what has no column in its table. */
export interface WholeRule {
  rule: IpRule;
  requests: RuleRequests;
}

const ANY: RuleRequests = { paths: null, methods: null };

export async function withRequests(manager: EntityManager, rules: readonly IpRule[]): Promise<WholeRule[]> {
  const ids = rules.map(({ id }) => id);
  const rows: ({ id: number } & RuleRequests)[] =
    ids.length === 0
      ? []
      : await manager.query(
          `SELECT rule_id::float8 AS id, paths, methods FROM tunnel_gateway_ops.ip_rule_options
           WHERE rule_id = ANY ($1::bigint[])`,
          [ids],
        );
  const found = new Map(rows.map(({ id, paths, methods }) => [id, { paths, methods }]));
  return rules.map((rule) => ({ rule, requests: found.get(rule.id) ?? ANY }));
}

/** The given fields in canonical form. `at`: the beginning of the fields' names in errors. @throws AppError */
export function readRequests(
  { paths, methods }: { [K in keyof RuleRequests]?: string[] | null | undefined },
  scope: IpRule['scope'],
  at = '',
): Partial<RuleRequests> {
  for (const [field, texts] of Object.entries({ paths, methods })) {
    if (!texts || (scope !== 'tunnel' && scope !== 'console')) continue;
    throw fieldError(`${at}${field}`, `rules of a ${scope} see no requests: only hosts have paths and methods`);
  }
  return {
    ...(paths !== undefined && { paths: paths && distinct(`${at}paths`, paths, readPath) }),
    ...(methods !== undefined && { methods: methods && distinct(`${at}methods`, methods, parseRuleMethod) }),
  };
}

function readPath(text: string): string {
  return parseRulePath(parseLocation(text.trim()));
}

function distinct(field: string, texts: readonly string[], read: (text: string) => string): string[] {
  const parse = (text: string): string => {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof IpPatternError) throw new RangeError(error.message, { cause: error });
      throw error;
    }
  };
  return [...new Set(texts.map((text) => readField(field, () => parse(text))))];
}
