import { PROXY_NODE_TYPES } from '@gatehouse/contracts';
import type { GroupFilter } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type { ErrorDetail } from '@gatehouse/platform';
import { countryName } from '../data/country-names.js';
import { compileNamePattern, NamePatternError } from '../kernel-config/name-pattern.js';
import { UNKNOWN_COUNTRY } from '../kernel-config/node-filter.js';
import type { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import { BUILT_IN } from './outbound.view.js';

/** The group that exists from the first start and replaces targets that are gone. */
export const MAIN_GROUP = 'PROXY';

const RESERVED = new Set<string>([...BUILT_IN, 'PASS', 'COMPATIBLE', 'GLOBAL']);
const MAX_DEPTH = 16;

/** @throws AppError INVALID_ARGUMENT for a name that rules or the kernel could confuse with something else. */
export function checkName(name: string): void {
  const message = nameProblem(name);
  if (message !== null) throw invalid([{ field: 'name', message }]);
}

/** What is wrong with the name of a group; null if nothing is. */
export function nameProblem(name: string): string | null {
  if (name !== name.trim()) return 'must not begin or end with a space';
  if (name === '.' || name === '..') return 'must not be a path';
  if (name.includes(',')) return 'must not contain a comma: it separates the parts of a rule';
  if (RESERVED.has(name.toUpperCase())) return 'is the name of a built-in policy';
  return /^n?\d+$/.test(name) ? 'would be taken for a node' : null;
}

/** @throws AppError INVALID_ARGUMENT for an invalid filter, or for a field that the type does not use. */
export function checkDefinition(group: OutboundGroupEntity): void {
  const problems = [
    ...filterProblems('filter', group.filter),
    ...filterProblems('exclude', group.exclude),
    ...(group.exclude !== null && group.filter === null
      ? [{ field: 'exclude', message: 'needs a filter to exclude nodes from' }]
      : []),
    ...unused(group.toleranceMs !== null && group.type !== 'url-test', 'tolerance_ms', 'url-test'),
    ...unused(group.strategy !== null && group.type !== 'load-balance', 'strategy', 'load-balance'),
    ...(group.members.length === 0 && group.filter === null && !group.includeCountries
      ? [{ field: 'members', message: 'is needed where there is no filter and no countries are included' }]
      : []),
  ];
  if (problems.length > 0) throw invalid(problems);
}

function filterProblems(field: string, filter: GroupFilter | null): ErrorDetail[] {
  if (filter === null) return [];
  const types = filter.types?.filter((type) => !PROXY_NODE_TYPES.some((known) => known === type)) ?? [];
  const countries = filter.countries?.filter((code) => code !== UNKNOWN_COUNTRY && countryName(code) === null) ?? [];
  return [
    ...types.map((type) => ({ field: `${field}.types`, message: `${JSON.stringify(type)} is not a node type` })),
    ...countries.map((code) => ({ field: `${field}.countries`, message: `${code} is not a country code` })),
    ...patternProblem(`${field}.name`, filter.name),
  ];
}

function patternProblem(field: string, pattern: string | undefined): ErrorDetail[] {
  try {
    if (pattern !== undefined) compileNamePattern(pattern);
    return [];
  } catch (error) {
    if (error instanceof NamePatternError) return [{ field, message: `the regular expression ${error.message}` }];
    throw error;
  }
}

function unused(isSet: boolean, field: string, type: string): ErrorDetail[] {
  return isSet ? [{ field, message: `is for groups of type ${type}` }] : [];
}

/** @throws AppError UNPROCESSABLE for groups that contain each other, or are nested too deeply. */
export function checkCycles(groups: readonly Pick<OutboundGroupEntity, 'name' | 'members'>[]): void {
  const members = new Map(groups.map((group) => [group.name, group.members.filter((tag) => tag !== group.name)]));
  const harmless = new Set<string>();
  const walk = (name: string, path: readonly string[]): void => {
    const inside = members.get(name);
    if (!inside || harmless.has(name)) return;
    if (path.includes(name)) throw circle([...path.slice(path.indexOf(name)), name]);
    if (path.length >= MAX_DEPTH) throw circle([...path, name]);
    for (const member of inside) walk(member, [...path, name]);
    harmless.add(name);
  };
  for (const { name } of groups) walk(name, []);
}

function circle(path: readonly string[]): AppError {
  const isCircle = path[0] === path.at(-1);
  const message = isCircle
    ? `the groups contain each other: ${path.join(' → ')}`
    : `groups lead through more than ${MAX_DEPTH} others`;
  return new AppError('UNPROCESSABLE', `members: ${message}`, { details: [{ field: 'members', message }] });
}

function invalid(details: ErrorDetail[]): AppError {
  const [first] = details;
  return new AppError('INVALID_ARGUMENT', `${first?.field}: ${first?.message}`, { details });
}
