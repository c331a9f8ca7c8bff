import { cleanLabel } from '../fields.js';
import type { Profile, ProfileRuleProvider } from './profile.js';
import { isHttpUrl, secondsOf } from './read-groups.js';
import {
  conditionLines,
  isFields,
  textsIn,
  Unwritable,
  type Fields,
  type RuleSurroundings,
} from './sing-box-conditions.js';

const MAX_RULES = 200_000;
const MAX_SETS = 500;
/** The ports on which the kernel looks for a host name; sing-box looks at every port. */
const SNIFFED_PORTS = [80, 443];
const ROUTE_KEYS = new Set(['rules', 'rule_set', 'final']);
/** Actions that a gateway does by its own settings. */
const OWN_ACTIONS = new Set(['hijack-dns', 'route-options']);
const NO_TARGET = new Set(['dns']);

/** The `route` of a configuration. @param outbounds what its rules may lead to. */
export function readSingBoxRoute(document: Fields, outbounds: readonly Fields[], profile: Profile): void {
  const route = isFields(document['route']) ? document['route'] : {};
  const sets = readRuleSets(route['rule_set'], profile);
  const around = { resolved: resolvesEarly(document['inbounds']), sets };
  const rules = Array.isArray(route['rules']) ? (route['rules'] as unknown[]) : [];
  const types = new Map(outbounds.map(({ tag, type }) => [tag, type]));
  for (const rule of rules) addRule(rule, { around, types, profile });
  profile.rules.push(`MATCH,${lastTarget(route['final'], outbounds)}`);
  const options = Object.keys(route).filter((key) => !ROUTE_KEYS.has(key));
  profile.machineOptions.push(...options.map((key) => `route.${key}`));
}

/** Without a final outbound it is the first one; what cannot be named rejects. */
function lastTarget(final: unknown, outbounds: readonly Fields[]): string {
  const first = outbounds.find(({ type }) => !NO_TARGET.has(String(type)));
  if (final === undefined && first === undefined) return 'DIRECT';
  const tag = final ?? first?.['tag'];
  return typeof tag === 'string' && !tag.includes(',') ? (cleanLabel(tag) ?? 'REJECT') : 'REJECT';
}

/** Before 1.13 an inbound may resolve names before the rules are looked at. */
function resolvesEarly(inbounds: unknown): boolean {
  return (
    Array.isArray(inbounds) && inbounds.some((inbound) => isFields(inbound) && Boolean(inbound['domain_strategy']))
  );
}

interface Reading {
  around: RuleSurroundings;
  /** Types of outbounds by their tags. */
  types: ReadonlyMap<unknown, unknown>;
  profile: Profile;
}

function addRule(rule: unknown, { around, types, profile }: Reading): void {
  if (!isFields(rule)) {
    drop(profile, rule, 'rule_unreadable');
    return;
  }
  const action = typeof rule['action'] === 'string' ? rule['action'] : 'route';
  const mode = rule['clash_mode'];
  // The mode of this gateway is a setting of its own; rules for the usual one always hold.
  if (typeof mode === 'string' && mode.toLowerCase() !== 'rule') drop(profile, rule, 'machine_setting');
  else if (action === 'sniff') addSniffer(rule, profile);
  else if (action === 'resolve') addResolve(rule, around, profile);
  else if (OWN_ACTIONS.has(action) || NO_TARGET.has(String(types.get(rule['outbound'])))) {
    drop(profile, rule, 'machine_setting');
  } else addRoute(rule, action, around, profile);
}

function addRoute(rule: Fields, action: string, around: RuleSurroundings, profile: Profile): void {
  try {
    const target = targetOf(rule, action);
    const conditions = conditionLines(rule, around);
    if (profile.rules.length + conditions.length > MAX_RULES) throw new Unwritable('too_many');
    for (const condition of conditions) profile.rules.push(lineOf(condition, target));
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    drop(profile, rule, error.reason);
  }
}

/** Options stand behind the target, except inside of conditions. */
function lineOf(condition: string, target: string): string {
  const isPlain = condition.endsWith(',no-resolve');
  return isPlain ? `${condition.slice(0, -',no-resolve'.length)},${target},no-resolve` : `${condition},${target}`;
}

/** @throws Unwritable */
function targetOf({ outbound, method }: Fields, action: string): string {
  if (action === 'reject') return method === 'drop' ? 'REJECT-DROP' : 'REJECT';
  // A comma would end the target.
  if (action !== 'route' || typeof outbound !== 'string' || outbound === '' || outbound.includes(',')) {
    throw new Unwritable('rule_unreadable');
  }
  return cleanLabel(outbound) ?? outbound;
}

function addSniffer(rule: Fields, profile: Profile): void {
  const isEverywhere = Object.keys(rule).every((key) => key === 'action' || key === 'timeout');
  profile.sniffer ??= { ports: SNIFFED_PORTS, otherOptions: [isEverywhere ? 'sniff on other ports' : 'sniff'] };
}

/** From here on rules see addresses of names. */
function addResolve(rule: Fields, around: RuleSurroundings, profile: Profile): void {
  const isForAll = Object.keys(rule).every((key) => ['action', 'strategy', 'server', 'disable_cache'].includes(key));
  if (isForAll) around.resolved = true;
  else drop(profile, rule, 'condition_unknown');
}

function drop(profile: Profile, rule: unknown, reason: Unwritable['reason']): void {
  const name = (JSON.stringify(rule) ?? '').slice(0, 200);
  profile.dropped.push({ section: 'rules', name, outcome: 'left_out', reason });
}

/** Names in rules, by tag. */
function readRuleSets(value: unknown, profile: Profile): Map<string, string> {
  const names = new Map<string, string>();
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  for (const [index, item] of list.entries()) {
    const tag = isFields(item) && typeof item['tag'] === 'string' ? item['tag'] : undefined;
    const name = cleanLabel(tag?.replace(/[,()]+/g, '-'));
    try {
      if (!isFields(item) || tag === undefined || name === undefined) throw new Unwritable('unreadable');
      if (names.has(tag)) throw new Unwritable('duplicate_name');
      if (index >= MAX_SETS) throw new Unwritable('too_many');
      profile.ruleProviders.push(toProvider(item, name));
      names.set(tag, name);
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      const shown = name ?? `#${index + 1}`;
      profile.dropped.push({ section: 'rule_providers', name: shown, outcome: 'left_out', reason: error.reason });
    }
  }
  return names;
}

/** @throws Unwritable */
function toProvider(item: Fields, name: string): ProfileRuleProvider {
  const type = item['type'] ?? 'inline';
  const shared = {
    name,
    behavior: 'classical',
    intervalSec: intervalOf(item['update_interval']),
    remarks: [],
  } as const;
  if (type === 'inline') {
    const around = { resolved: true, sets: new Map<string, string>() };
    const rules = Array.isArray(item['rules']) ? (item['rules'] as unknown[]) : [];
    const entries = rules.flatMap((rule) => conditionLines(rule, around));
    if (entries.length === 0) throw new Unwritable('unreadable');
    return { ...shared, remarks: [], format: 'text', source: { entries } };
  }
  if (type !== 'remote') throw new Unwritable('file_elsewhere');
  const [url = ''] = textsIn(item, 'url');
  if (!isHttpUrl(url)) throw new Unwritable('url_unusable');
  return { ...shared, remarks: [], format: 'sing-box', source: { url } };
}

/** `1d`, which other formats do not have, and the units that they have. */
export function intervalOf(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const days = /^(\d{1,4})d$/.exec(value)?.[1];
  return days === undefined ? secondsOf(value) : Number(days) * 86_400;
}
