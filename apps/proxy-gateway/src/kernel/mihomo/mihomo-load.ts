import { KernelConfigError, validateRule } from '@gatehouse/proxy-kernel';
import type { KernelConfig, RuleConfig } from '@gatehouse/proxy-kernel';
import { MihomoRefusal } from './mihomo-api.js';
import { toMihomoConfig, type MihomoControl } from './mihomo-config.js';
import { toMihomoRules, type GeoPrefixes, type MihomoRules } from './mihomo-rules.js';

/** A configuration with more refusals than this is refused as a whole. */
const MAX_REFUSALS = 50;
const RULE_REFUSED = /^rules\[(\d+)\] \[.*?\] error: (.*)$/s;
const NODE_REFUSED = /^proxy (\d+): (.*)$/s;

export interface LoadedConfig {
  rules: MihomoRules;
  /** What mihomo carries the configuration without. */
  warnings: string[];
}

export type LoadControl = Omit<MihomoControl, 'rules' | 'refusedNodes'> & { geo: GeoPrefixes | undefined };

/**
 * Loads a configuration. One element that this version does not take would make mihomo refuse all others with it, so
 * the rule is left out, or the node rejects.
 * @throws KernelConfigError for anything else that mihomo refuses, and for a rule that no kernel takes.
 */
export async function loadConfig(
  config: KernelConfig,
  control: LoadControl,
  load: (config: object) => Promise<void>,
): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const refusedNodes = new Set<string>();
  let taken = config;
  for (;;) {
    const rules = toMihomoRules(taken, control.geo);
    try {
      await load(toMihomoConfig(taken, { ...control, rules, refusedNodes }));
      return { rules, warnings };
    } catch (error) {
      if (!(error instanceof MihomoRefusal)) throw error;
      const rule = refusedRule(error.message, rules, control.guards?.length ?? 0);
      const node = refusedNode(error.message, taken);
      if (warnings.length >= MAX_REFUSALS || (!rule && !node)) throw new KernelConfigError('mihomo', error.message);
      if (rule) taken = { ...taken, rules: taken.rules.filter((other) => other !== rule.rule) };
      if (node) refusedNodes.add(node.tag);
      warnings.push(
        rule
          ? `rule ${describe(rule.rule)} is left out: ${rule.reason}`
          : `node ${node?.tag ?? ''} rejects: ${node?.reason ?? ''}`,
      );
    }
  }
}

/** Why mihomo refuses one of these rules, by its index; null if it takes it. @param check asks mihomo. */
export async function refusedRules(
  rules: readonly RuleConfig[],
  sets: KernelConfig['ruleSets'],
  check: (config: object) => Promise<string | null>,
): Promise<Map<number, string>> {
  const refused = new Map<number, string>();
  const config: KernelConfig = {
    mode: 'rule',
    listeners: [],
    outbounds: [],
    groups: [],
    rules: rules.map((rule) => ({ ...rule, target: 'DIRECT' })),
    ruleSets: sets?.map((set) => ({ ...set, entries: [] })) ?? [],
    defaultPolicy: 'DIRECT',
  };
  const geo: GeoPrefixes = { country: () => [], asn: () => [] };
  while (refused.size <= MAX_REFUSALS) {
    const left = config.rules.filter((_rule, index) => !refused.has(index));
    const lines = toMihomoRules({ ...config, rules: left }, geo);
    const message = await check(toMihomoConfig(config, { socket: '', ports: new Map(), rules: lines }));
    const found = message === null ? null : refusedRule(message, lines, 0);
    if (!found) return refused;
    refused.set(config.rules.indexOf(found.rule), found.reason);
  }
  return refused;
}

function refusedRule(
  message: string,
  { rules }: MihomoRules,
  guards: number,
): { rule: RuleConfig; reason: string } | null {
  const [, index, reason = ''] = RULE_REFUSED.exec(message) ?? [];
  const rule = index === undefined ? undefined : rules[Number(index) - guards];
  // A rule that the embedded kernel refuses as well is a mistake of whoever wrote the configuration.
  return rule && validateRule(rule) === null ? { rule, reason } : null;
}

function refusedNode(message: string, { outbounds }: KernelConfig): { tag: string; reason: string } | null {
  const [, index, reason = ''] = NODE_REFUSED.exec(message) ?? [];
  const outbound = index === undefined ? undefined : outbounds[Number(index)];
  return outbound ? { tag: outbound.tag, reason } : null;
}

function describe({ type, payload, target }: RuleConfig): string {
  return [type, payload, target]
    .filter((part) => part !== '')
    .join(',')
    .slice(0, 200);
}
