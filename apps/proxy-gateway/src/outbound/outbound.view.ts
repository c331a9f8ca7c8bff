import type { GroupMemberView, OutboundGroupView, OutboundOverview } from '@gatehouse/contracts';
import type { GroupConfig } from '@gatehouse/proxy-kernel';
import type { GroupInUse, TagUsage } from '../common/kernel-ipc.js';
import { maskUrl } from '../data/mask-secrets.js';
import { PREFERENCES } from '../preferences/preference-definitions.js';
import type { GroupRow, NodeCardRow } from './group-rows.js';

/** The last measurements, by test address and node id; the general address is the empty string. */
export type MeasuredHealth = ReadonlyMap<string, ReadonlyMap<number, { alive: boolean; delay_ms: number | null }>>;

export const BUILT_IN = ['DIRECT', 'REJECT', 'REJECT-DROP'] as const;

/** How many members of a group that spreads connections are checked for UDP. */
export const SAMPLE = 20;

/** The page of the member lists. */
export interface MemberWindow {
  limit: number;
  offset: number;
}

export interface OverviewFacts {
  groups: readonly { row: GroupRow; config: GroupConfig }[];
  /** By kernel tag. */
  nodes: ReadonlyMap<string, NodeCardRow>;
  health: MeasuredHealth;
  /** The kernel's state; null while it does not answer. */
  live: readonly GroupInUse[] | null;
  usage: Readonly<Record<string, TagUsage>>;
  /** Bytes of finished flows that are not yet in the rows. */
  waiting: (group: string) => { upload: number; download: number };
  /** The defaults for groups that measure. */
  measuring: { test_url: string; expected_status: string; interval_sec: number };
  window: MemberWindow;
  /** False masks credentials in test addresses. */
  showSecrets: boolean;
}

export interface OverviewHead {
  mode: OutboundOverview['mode'];
  defaultPolicy: string;
  kernel: OutboundOverview['kernel'];
}

export function toOutboundOverview(head: OverviewHead, facts: OverviewFacts): OutboundOverview {
  return {
    mode: head.mode,
    default_policy: facts.nodes.get(head.defaultPolicy)?.name ?? head.defaultPolicy,
    policies: [...facts.groups.map(({ row }) => row.name), ...BUILT_IN],
    kernel: head.kernel,
    groups: toGroupViews(facts),
    builtin: [...BUILT_IN],
  };
}

export function toGroupViews(facts: OverviewFacts): OutboundGroupView[] {
  const using = currentMembers(facts);
  const cards = new Map<string, (tag: string) => GroupMemberView>();
  const carriesUdp = udpOf(facts, using);
  return facts.groups.map(({ row, config }) => {
    const measuredWith = row.testUrl ?? '';
    const toMember = cards.get(measuredWith) ?? memberViews(facts, using, measuredWith);
    cards.set(measuredWith, toMember);
    const { now, fixed } = using.get(row.name) ?? { now: null, fixed: false };
    const { limit, offset } = facts.window;
    const members = config.members.slice(offset, offset + limit).map(toMember);
    return {
      name: row.name,
      type: row.type,
      now: now === null ? null : toMember(now).name,
      now_proxy: now,
      fixed,
      all: members.map(({ name }) => name),
      members,
      members_total: config.members.length,
      ...definitionOf(row, config, facts),
      udp: carriesUdp(row.name),
      ...trafficOf(row, facts),
      last_switch: row.lastSwitch,
    };
  });
}

/** The member that each group uses, from the kernel, or from the configuration while it does not answer. */
function currentMembers({ groups, live }: OverviewFacts) {
  const states = new Map(live?.map((state) => [state.name, state]));
  return new Map(
    groups.map(({ config: { name, type, selected, members } }) => {
      const first = type === 'load-balance' ? null : (members[0] ?? null);
      const { now, fixed } = states.get(name) ?? { now: selected ?? first, fixed: selected !== undefined };
      return [name, { now, fixed, type }];
    }),
  );
}

function memberViews(
  { nodes, health }: OverviewFacts,
  using: ReadonlyMap<string, { now: string | null; type: string }>,
  testUrl: string,
): (tag: string) => GroupMemberView {
  const measured = health.get(testUrl);
  const leafOf = (tag: string, depth = 0): string | null => {
    const group = using.get(tag);
    if (!group || depth > using.size) return group ? null : tag;
    return group.now === null ? null : leafOf(group.now, depth + 1);
  };
  const known = new Map<string, GroupMemberView>();
  return (tag) => {
    const before = known.get(tag);
    if (before) return before;
    const node = nodes.get(tag);
    const leaf = nodes.get(leafOf(tag) ?? '');
    const state = leaf && measured?.get(leaf.id);
    const view: GroupMemberView = {
      name: node?.name ?? tag,
      proxy: tag,
      node_id: node?.id ?? null,
      type: node?.type ?? using.get(tag)?.type ?? tag.toLowerCase(),
      country: node?.country ?? null,
      subscription_name: node?.subscription_name ?? null,
      alive: state?.alive ?? null,
      delay_ms: state?.delay_ms ?? null,
    };
    known.set(tag, view);
    return view;
  };
}

function definitionOf(row: GroupRow, config: GroupConfig, { measuring, showSecrets }: OverviewFacts) {
  const measures = row.type !== 'select';
  return {
    listed: row.members,
    filter: row.filter,
    exclude: row.exclude,
    include_countries: row.includeCountries,
    country: row.country,
    automatic: row.automatic,
    subscription_id: row.subscriptionId,
    profile_name: row.profileName,
    test_url: shownUrl(row.testUrl ?? (measures ? measuring.test_url : null), showSecrets),
    expected_status: row.expectedStatus ?? (measures ? measuring.expected_status : null),
    interval_sec: row.intervalSec ?? (measures ? measuring.interval_sec : null),
    tolerance_ms: config.toleranceMs ?? null,
    lazy: row.lazy,
    strategy: row.type === 'load-balance' ? (row.strategy ?? 'consistent-hashing') : null,
    hidden: row.hidden,
    icon: row.icon,
    empty_fallback: row.emptyFallback,
  };
}

/** An address that a user set may contain credentials; the default does not. */
function shownUrl(url: string | null, showSecrets: boolean): string | null {
  return url === null || showSecrets || url === PREFERENCES['health.url'].defaultText ? url : maskUrl(url);
}

function trafficOf({ name, uploadTotal, downloadTotal }: GroupRow, { usage, waiting }: OverviewFacts) {
  const open = usage[name] ?? { connections: 0, upload: 0, download: 0 };
  const ended = waiting(name);
  return {
    active_connections: open.connections,
    upload_total: uploadTotal + ended.upload + open.upload,
    download_total: downloadTotal + ended.download + open.download,
  };
}

/** Whether the current member carries UDP; for a group that spreads connections, whether any member does. */
function udpOf(
  { groups, nodes }: OverviewFacts,
  using: ReadonlyMap<string, { now: string | null }>,
): (group: string) => boolean {
  const members = new Map(groups.map(({ config }) => [config.name, config.members]));
  const carries = (tag: string, depth: number): boolean => {
    const inside = members.get(tag);
    if (!inside) return nodes.get(tag)?.udp ?? BUILT_IN.some((name) => name === tag);
    if (depth > groups.length) return false;
    const now = using.get(tag)?.now ?? null;
    return now === null
      ? inside.slice(0, SAMPLE).some((member) => carries(member, depth + 1))
      : carries(now, depth + 1);
  };
  return (group) => carries(group, 0);
}
