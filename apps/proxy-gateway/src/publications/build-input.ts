import type { PublicationDefinition } from '@gatehouse/contracts';
import type { GroupConfig, KernelConfig } from '@gatehouse/proxy-kernel';
import type { TargetGroup, TargetInput } from '@gatehouse/subscription-formats';
import { countryName } from '../data/country-names.js';
import {
  mapKernelConfig,
  nodeTag,
  type ConfigNode,
  type KernelConfigRows,
} from '../kernel-config/kernel-config.mapper.js';
import { UNREADABLE_NODE } from '../data/node-vault.js';
import { selectNodes, type SelectableNode } from './selection.js';

/** What publications are made from: the rows of a kernel configuration, and what was measured. */
export interface PublicationRows extends KernelConfigRows {
  nodes: readonly (ConfigNode & { manual: boolean; delayMs: number | null })[];
}

export interface PublicationInput {
  input: TargetInput;
  sourcesTotal: number;
  selectedTotal: number;
  names: string[];
  /** Subscriptions that the nodes come from. */
  subscriptionIds: number[];
  /** Nodes whose stored definition does not open. */
  unreadable: string[];
  /** Nodes whose dialer is not in the publication, or that would dial through themselves. */
  undialable: string[];
}

type Selectable = SelectableNode & { row: PublicationRows['nodes'][number] };

const ALL = 'PROXY';
const FASTEST = 'AUTO';

/** Runs the chain of a publication over the rows, and puts its template around the nodes. @throws NamePatternError */
export function buildInput(rows: PublicationRows, definition: PublicationDefinition): PublicationInput {
  const readable = rows.nodes.filter(({ unsupportedReason }) => unsupportedReason !== UNREADABLE_NODE);
  const { nodes, sourcesTotal } = selectNodes(readable.map(toSelectable), definition);
  const chosen = nodes.map(({ row, name }) => ({ ...row, name, unsupportedReason: null }));
  const { config, leftOut } = mapKernelConfig({ ...rows, nodes: chosen, groups: groupsOf(rows, definition) });
  const named = new Map(nodes.map(({ id, name }) => [nodeTag(id), name]));
  const order = new Map([...named.keys()].map((tag, index) => [tag, index]));
  const outbounds = config.outbounds.toSorted((a, b) => (order.get(a.tag) ?? 0) - (order.get(b.tag) ?? 0));
  return {
    input: {
      nodes: outbounds.map(({ tag, node, dialer }) => ({
        tag,
        node: { ...node, name: named.get(tag) ?? node.name },
        ...(dialer === undefined ? {} : { dialer }),
      })),
      ...template(definition, config, nodes),
    },
    sourcesTotal,
    selectedTotal: nodes.length,
    names: nodes.map(({ name }) => name),
    subscriptionIds: [...new Set(nodes.flatMap(({ subscriptionIds }) => subscriptionIds))],
    unreadable: rows.nodes.filter((node) => !readable.includes(node)).map(({ name }) => name),
    undialable: leftOut.map(({ name }) => name),
  };
}

function toSelectable(row: PublicationRows['nodes'][number]): Selectable {
  const { id, name, node, country, tags, subscriptionIds, manual, alive, delayMs } = row;
  const { type, server, port } = node;
  return { id, name, type, server, port, country, tags, subscriptionIds, manual, alive, delayMs, row };
}

/** Without the rules, groups matter to a publication only where a node dials through one. */
function groupsOf(rows: PublicationRows, { template: wanted = 'countries' }: PublicationDefinition) {
  return wanted === 'rules' ? rows.groups : [];
}

function template(
  { template: wanted = 'countries' }: PublicationDefinition,
  config: KernelConfig,
  nodes: readonly Selectable[],
): Pick<TargetInput, 'groups' | 'rules' | 'ruleSets' | 'final'> {
  if (wanted === 'nodes') return { groups: [], rules: [], final: null };
  if (wanted === 'countries') return { groups: countryGroups(nodes), rules: [], final: ALL };
  const used = usedGroups(config);
  return {
    groups: config.groups.filter(({ name }) => used.has(name)).map(toTargetGroup),
    // Rules of the system protect this machine, not the client's.
    rules: config.rules.filter(({ source }) => source !== 'system'),
    ruleSets: config.ruleSets ?? [],
    final: config.defaultPolicy,
  };
}

/** One group to choose from, one that takes the fastest, and one for each country. */
function countryGroups(nodes: readonly Selectable[]): TargetGroup[] {
  const tags = nodes.map(({ id }) => nodeTag(id));
  const byCountry = Map.groupBy(nodes, ({ country }) => country);
  const countries = [...byCountry].flatMap(([code, members]): TargetGroup[] =>
    code === null
      ? []
      : [
          {
            name: `${flag(code)} ${countryName(code) ?? code}`,
            type: 'url-test',
            members: members.map(({ id }) => nodeTag(id)),
          },
        ],
  );
  countries.sort((a, b) =>
    a.members.length === b.members.length ? a.name.localeCompare(b.name) : b.members.length - a.members.length,
  );
  return [
    { name: ALL, type: 'select', members: [FASTEST, ...countries.map(({ name }) => name), ...tags, 'DIRECT'] },
    { name: FASTEST, type: 'url-test', members: tags },
    ...countries,
  ];
}

function flag(code: string): string {
  return String.fromCodePoint(...Array.from(code, (letter) => 0x1_f1_e6 + letter.charCodeAt(0) - 65));
}

/** The member that was chosen here comes first, which clients start with. */
function toTargetGroup({ name, type, members, selected, testUrl, toleranceMs, strategy }: GroupConfig): TargetGroup {
  const chosen = selected !== undefined && members.includes(selected) ? selected : undefined;
  return {
    name,
    type,
    members: chosen === undefined ? members : [chosen, ...members.filter((member) => member !== chosen)],
    ...(testUrl !== undefined && { testUrl }),
    ...(toleranceMs !== undefined && { toleranceMs }),
    ...(strategy !== undefined && { strategy }),
  };
}

/** The groups that rules lead to, and those in them; others would only make the client's list longer. */
function usedGroups({ groups, rules, defaultPolicy, outbounds }: KernelConfig): Set<string> {
  const byName = new Map(groups.map((group) => [group.name, group]));
  const open = [
    defaultPolicy,
    ...rules.map(({ target }) => target),
    ...outbounds.flatMap(({ dialer }) => dialer ?? []),
  ];
  const used = new Set<string>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const group = byName.get(name);
    if (group === undefined || used.has(name)) continue;
    used.add(name);
    open.push(...group.members);
  }
  return used;
}
