import { setImmediate } from 'node:timers/promises';
import { parseRuleSet } from '@gatehouse/proxy-kernel';
import type {
  Profile,
  ProfileProxyProvider,
  ProfileRemark,
  ProfileRuleProvider,
} from '@gatehouse/subscription-formats';
import type { ProfileOverlay, StoredReport } from '../data/profile.entity.js';
import { groupNames, namesApart, setNames } from './names-apart.js';
import type { NameSpace } from './names-apart.js';
import { builtInOf, planGroups, usableFilter } from './plan-groups.js';
import type { PlannedGroup } from './plan-groups.js';
import { planOverlay } from './plan-overlay.js';
import { RulePlanner } from './plan-rules.js';
import type { PlannedRule, RuleSurroundings } from './plan-rules.js';
import { ReportBuilder } from './profile-report.js';

/** What a profile meets here. */
export interface ProfileContext {
  groups: NameSpace;
  sets: NameSpace;
  /** The tag of a node of the profile; null for any other name. */
  nodeTag: (name: string) => string | null;
  /** The tag of something outside the profile: a group or a node that was there before. */
  foreignTag: (name: string) => string | null;
  unknownTarget: (name: string) => string;
  hasSites: (code: string) => boolean | null;
}

export interface PlannedSet extends ProfileRuleProvider {
  storedAs: string;
}

/** Everything that taking a profile stores. */
export interface ProfilePlan {
  groups: PlannedGroup[];
  providers: ProfileProxyProvider[];
  sets: PlannedSet[];
  rules: PlannedRule[];
  overlay: ProfileOverlay;
  report: StoredReport;
}

/** Lines read before yielding to the event loop. */
const SLICE = 2_000;

/** Plans what taking a profile stores, and reports on each of its items. Nothing is read or written. */
export async function planProfile(profile: Profile, context: ProfileContext): Promise<ProfilePlan> {
  const report = new ReportBuilder();
  const providers = profile.proxyProviders.map((provider) => {
    const remarks = [...provider.remarks];
    const filter = usableFilter(provider.filter, remarks);
    report.add('proxy_providers', provider.name, remarks);
    return { ...provider, filter };
  });
  const names = namesApart(
    profile.groups.map(({ name }) => name),
    context.groups,
    groupNames,
  );
  const groups = planGroups(profile, {
    names,
    nodeTag: context.nodeTag,
    builtIns: profile.builtIns,
    providers: new Set(providers.map(({ name }) => name)),
  });
  for (const { name, remarks } of groups) report.add('groups', name, remarks);
  const { sets, stored } = planSets(profile, context, report);
  const surroundings = {
    setNames: stored,
    target: (name: string) => {
      const own = names.get(name) ?? context.nodeTag(name);
      const builtIn = own === null ? builtInOf(profile.builtIns.get(name) ?? name) : null;
      return { tag: own ?? builtIn?.tag ?? context.foreignTag(name), replaced: builtIn?.replaced === true };
    },
    unknownTarget: context.unknownTarget,
    hasSites: context.hasSites,
  };
  const rules = await planRules(profile, surroundings, report);
  const overlay = planOverlay(profile, report);
  for (const { section, name, ...remark } of profile.dropped) report.add(section, name, [remark]);
  for (const key of profile.machineOptions) {
    report.add('other', key, [{ outcome: 'left_out', reason: 'machine_setting' }]);
  }
  return { groups, providers, sets, rules, overlay, report: report.build() };
}

async function planRules(
  profile: Profile,
  surroundings: RuleSurroundings,
  report: ReportBuilder,
): Promise<PlannedRule[]> {
  const planner = new RulePlanner(profile, surroundings, report);
  for (const [index, line] of profile.rules.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    planner.add(line);
  }
  planner.finish();
  return planner.rules;
}

function planSets(profile: Profile, context: ProfileContext, report: ReportBuilder) {
  const stored = namesApart(
    profile.ruleProviders.map(({ name }) => name),
    context.sets,
    setNames,
  );
  const sets = profile.ruleProviders.flatMap((provider): PlannedSet[] => {
    const storedAs = stored.get(provider.name) ?? provider.name;
    const remarks = [...provider.remarks];
    if (storedAs !== provider.name) remarks.push({ outcome: 'replaced', reason: 'rule_set_renamed' });
    const source = usableSource(provider, remarks);
    if (source === null) stored.delete(provider.name);
    report.add('rule_providers', provider.name, remarks);
    return source === null ? [] : [{ ...provider, source, storedAs }];
  });
  return { sets, stored };
}

/** Without the entries that the kernel does not read; null if nothing is left. */
function usableSource(
  { source, behavior }: ProfileRuleProvider,
  remarks: ProfileRemark[],
): ProfileRuleProvider['source'] | null {
  if ('url' in source) return source;
  const { entries, errorCount } = parseRuleSet(Buffer.from(source.entries.join('\n')), { format: 'text', behavior });
  if (entries.length === 0) remarks.push({ outcome: 'left_out', reason: 'unreadable' });
  else if (errorCount > 0) remarks.push({ outcome: 'carried', reason: 'entries_left_out' });
  return entries.length === 0 ? null : { entries };
}
