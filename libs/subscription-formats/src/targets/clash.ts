import type { TargetInput, TargetRule, TargetRuleSet } from './target.js';
import type { Prepared, PreparedGroup } from './prepare.js';

const DEFAULT_TEST_URL = 'https://www.gstatic.com/generate_204';
const DEFAULT_INTERVAL_SEC = 300;
/** Types that are about the machine of this gateway. */
const UNSAYABLE_RULES: ReadonlySet<string> = new Set(['SUB-RULE', 'IN-USER', 'IN-NAME', 'IN-PORT', 'IN-TYPE']);
/** Clients fetch the whole document again and again, so sets beyond this are left out. */
const MAX_SET_ENTRIES = 50_000;

/** A document of mihomo. Values are JSON, which is YAML, so they need no other quoting rules. */
export function clashDocument(prepared: Prepared, input: TargetInput): string {
  const comments = (input.comments ?? []).map((line) => `# ${line}\n`).join('');
  const proxies = list(
    'proxies',
    prepared.nodes.map(({ entry }) => JSON.stringify(entry)),
  );
  if (input.final === null) return `${comments}${proxies}`;
  const basics = 'mixed-port: 7890\nallow-lan: false\nmode: rule\nlog-level: info\n';
  const groups = list(
    'proxy-groups',
    prepared.groups.map((group) => JSON.stringify(clashGroup(group))),
  );
  const sets = usedSets(input);
  const providers = [...sets.values()].map(({ name, behavior, entries }) => {
    return `  ${JSON.stringify(name)}: ${JSON.stringify({ type: 'inline', behavior, payload: entries })}\n`;
  });
  const rules = list('rules', clashRules(prepared, input, sets));
  return [
    comments,
    basics,
    proxies,
    groups,
    ...(sets.size === 0 ? [] : ['rule-providers:\n', ...providers]),
    rules,
  ].join('');
}

function list(key: string, items: readonly string[]): string {
  return items.length === 0 ? `${key}: []\n` : `${key}:\n${items.map((item) => `  - ${item}\n`).join('')}`;
}

function clashGroup({ name, type, members, testUrl, intervalSec, toleranceMs, strategy }: PreparedGroup): object {
  return {
    name,
    type,
    proxies: members,
    ...(type === 'select' ? {} : { url: testUrl ?? DEFAULT_TEST_URL, interval: intervalSec ?? DEFAULT_INTERVAL_SEC }),
    ...(type === 'url-test' && toleranceMs !== undefined ? { tolerance: toleranceMs } : {}),
    ...(type === 'load-balance' ? { strategy: strategy ?? 'consistent-hashing' } : {}),
  };
}

function clashRules(
  { nameOf, remarks }: Prepared,
  { rules, final }: TargetInput,
  sets: ReadonlyMap<string, TargetRuleSet>,
): string[] {
  const lines: string[] = [];
  for (const rule of rules) {
    const target = nameOf(rule.target);
    const missing = setsNamedBy(rule).find((name) => !sets.has(name));
    if (missing !== undefined) remarks.add('left_out', 'rule_set', missing, showRule(rule));
    else if (UNSAYABLE_RULES.has(rule.type)) remarks.add('left_out', 'rule_type', rule.type, showRule(rule));
    else if (target === undefined) remarks.add('left_out', 'rule_target', null, showRule(rule));
    else lines.push(JSON.stringify(clashRule(rule, target)));
  }
  // mihomo sends UDP that reaches the end of the list out directly.
  return [...lines, JSON.stringify(`MATCH,${nameOf(final ?? '') ?? 'REJECT'}`), JSON.stringify('MATCH,REJECT')];
}

/** The sets that a rule names, also inside its conditions. */
export function setsNamedBy({ type, payload }: TargetRule): string[] {
  if (type === 'RULE-SET') return [payload];
  return [...payload.matchAll(/\(\s*RULE-SET\s*,\s*([^,()]*[^,()\s])(?=\s*[,)])/gi)].map(([, name = '']) => name);
}

/** The sets that rules name, as far as there is room for them. */
function usedSets({ rules, ruleSets = [] }: TargetInput): Map<string, TargetRuleSet> {
  const named = new Set(rules.flatMap(setsNamedBy));
  const used = new Map<string, TargetRuleSet>();
  let entries = 0;
  for (const set of ruleSets) {
    if (!named.has(set.name) || entries + set.entries.length > MAX_SET_ENTRIES) continue;
    entries += set.entries.length;
    used.set(set.name, set);
  }
  return used;
}

function clashRule({ type, payload, noResolve, src }: TargetRule, target: string): string {
  const ports = type === 'DST-PORT' || type === 'SRC-PORT' ? payload.replaceAll(',', '/') : payload;
  const options = [...(noResolve === true ? ['no-resolve'] : []), ...(src === true ? ['src'] : [])];
  return [type, ...(ports === '' ? [] : [ports]), target, ...options].join(',');
}

export function showRule({ type, payload, target }: TargetRule): string {
  return [type, payload, target].filter((part) => part !== '').join(',');
}
