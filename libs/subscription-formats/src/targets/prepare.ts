import type { ProxyNode, PublicationTarget } from '@gatehouse/contracts';
import { lineName } from './line-values.js';
import { BUILT_IN_TARGETS, Remarks, Unsayable, type TargetGroup, type TargetInput, type TargetNode } from './target.js';
import { writeNode, type WrittenNode } from './write-node.js';

export interface PreparedNode {
  /** Its name in the document, which no other entry has. */
  name: string;
  type: ProxyNode['type'];
  entry: WrittenNode['entry'];
}

/** Groups in which every member exists in the document, by its name there. */
export interface PreparedGroup extends TargetGroup {
  members: string[];
}

/** An input in the words of a target, with what was left out on the way. */
export interface Prepared {
  nodes: PreparedNode[];
  groups: PreparedGroup[];
  /** The name of a node or group of the document, or a built-in, by tag. Undefined: it is not in the document. */
  nameOf: (tag: string) => string | undefined;
  remarks: Remarks;
}

/** Formats in which names are parts of lines. */
const LINE_TARGETS: ReadonlySet<PublicationTarget> = new Set(['surge', 'loon', 'quantumult-x']);
/** Formats whose names are keys, so that each may occur once. */
const SAME_NAMES_ALLOWED: ReadonlySet<PublicationTarget> = new Set(['links', 'base64']);
/** Words that formats take for policies of their own. */
const RESERVED: Readonly<Record<PublicationTarget, readonly string[]>> = {
  clash: ['direct', 'reject', 'reject-drop', 'pass', 'compatible', 'global'],
  'sing-box': ['direct'],
  surge: ['direct', 'reject', 'reject-drop', 'reject-no-drop', 'reject-tinygif'],
  loon: ['direct', 'reject', 'reject-drop'],
  'quantumult-x': ['direct', 'reject', 'proxy'],
  base64: [],
  links: [],
};

/** Names the nodes and groups of a document, writes the nodes, and drops references to what is not there. */
export function prepare(target: PublicationTarget, input: TargetInput): Prepared {
  const remarks = new Remarks();
  const withGroups = input.final !== null;
  const names = new Names(target, withGroups);
  const groups = withGroups ? input.groups : [];
  names.reserve(input.taken ?? []);
  for (const { name } of groups) names.give(name, name);
  for (const { tag, node } of input.nodes) names.give(tag, node.name);
  const { written, missing } = writeNodes(target, input.nodes, names, remarks, new Set(groups.map(({ name }) => name)));
  const nameOf = (tag: string): string | undefined =>
    BUILT_IN_TARGETS.has(tag) ? tag : missing.has(tag) ? undefined : names.of(tag);
  return { nodes: written, groups: keepGroups(groups, nameOf, remarks), nameOf, remarks };
}

class Names {
  readonly #clean: (name: string) => string;
  readonly #areKeys: boolean;
  readonly #reserved: ReadonlySet<string>;
  readonly #byTag = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** @param inRules whether rules name the nodes and groups: a comma would end the name there. */
  constructor(target: PublicationTarget, inRules: boolean) {
    this.#areKeys = !SAME_NAMES_ALLOWED.has(target);
    this.#reserved = new Set(RESERVED[target]);
    if (LINE_TARGETS.has(target)) this.#clean = lineName;
    else if (target === 'clash' && inRules) this.#clean = (name) => name.replaceAll(/\s*,\s*/g, ' ').trim();
    else this.#clean = (name) => name;
  }

  reserve(taken: readonly string[]): void {
    for (const name of taken) this.#taken.add(name);
  }

  give(tag: string, wanted: string): void {
    const clean = this.#clean(wanted) || 'node';
    let name = clean;
    // As people number them: the second of a name is `Tokyo 2`.
    for (let next = 2; this.#areKeys && this.#isTaken(name); next += 1) name = `${clean} ${next}`;
    this.#taken.add(name);
    this.#byTag.set(tag, name);
  }

  #isTaken(name: string): boolean {
    return this.#taken.has(name) || this.#reserved.has(name.toLowerCase());
  }

  of(tag: string): string | undefined {
    return this.#byTag.get(tag);
  }
}

function writeNodes(
  target: PublicationTarget,
  nodes: readonly TargetNode[],
  names: Names,
  remarks: Remarks,
  groups: ReadonlySet<string>,
): { written: PreparedNode[]; missing: Set<string> } {
  const done = new Map<string, PreparedNode>();
  const missing = new Set<string>();
  for (const { tag, node, dialer } of nodes) {
    const name = names.of(tag) ?? node.name;
    try {
      const through = dialer === undefined ? undefined : names.of(dialer);
      if (dialer !== undefined && through === undefined) throw new Unsayable('dialer-proxy', 'node_dialer');
      const { dialerProxy: _label, ...own } = node;
      const renamed = { ...own, name, ...(through === undefined ? {} : { dialerProxy: through }) } as ProxyNode;
      const { entry, lost } = writeNode(target, renamed);
      done.set(tag, { name, type: node.type, entry });
      for (const field of lost) remarks.add('changed', 'node_option', field, node.name);
    } catch (error) {
      if (!(error instanceof Unsayable)) throw error;
      missing.add(tag);
      remarks.add('left_out', error.reason, error.field, node.name);
    }
  }
  dropChained(nodes, done, missing, remarks, groups);
  return { written: [...done.values()], missing };
}

/** A node whose dialer is left out would connect directly, or not at all. */
function dropChained(
  nodes: readonly TargetNode[],
  done: Map<string, PreparedNode>,
  missing: Set<string>,
  remarks: Remarks,
  groups: ReadonlySet<string>,
): void {
  const chained = nodes.filter(({ dialer }) => dialer !== undefined && !groups.has(dialer));
  for (let changed = true; changed;) {
    changed = false;
    for (const { tag, node, dialer } of chained) {
      if (!done.has(tag) || done.has(dialer ?? '')) continue;
      done.delete(tag);
      missing.add(tag);
      remarks.add('left_out', 'node_dialer', null, node.name);
      changed = true;
    }
  }
}

/** A group that has lost all its members rejects: what it stands for must not go elsewhere. */
function keepGroups(
  groups: readonly TargetGroup[],
  nameOf: (tag: string) => string | undefined,
  remarks: Remarks,
): PreparedGroup[] {
  return groups.map((group) => {
    const members = group.members.map(nameOf).filter((name) => name !== undefined);
    if (members.length === 0) remarks.add('changed', 'group_empty', null, group.name);
    return { ...group, name: nameOf(group.name) ?? group.name, members: members.length === 0 ? ['REJECT'] : members };
  });
}
