import { BUILT_IN_POLICIES } from '@gatehouse/proxy-kernel';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';
import { nodeIdOf } from '../data/flow-names.js';
import { NODE_NAME, QUALIFIED_NAMES } from '../data/node-names.js';
import { labelled } from '../outbound/policy-reference.js';
import type { SqlRunner } from '../traffic/log-partitions.js';

export type TargetProblem = 'UNKNOWN_TARGET' | 'AMBIGUOUS_TARGET';
export type FoundTarget = { tag: string } | { problem: TargetProblem; message: string };

interface NodeRow {
  id: number;
  name: string;
  qualified?: readonly string[];
}

/** All names that targets of rules can have, read once for a whole list of rules. */
export class TargetNames {
  readonly #groups: ReadonlySet<string>;
  readonly #names: ReadonlyMap<string, string>;
  readonly #tags = new Map<string, string[]>();
  /** Tags by `Provider/Tokyo`. */
  readonly #qualified = new Map<string, string[]>();
  readonly #labels: ReadonlyMap<string, string>;

  constructor(groups: readonly string[], nodes: readonly NodeRow[]) {
    this.#groups = new Set(groups);
    this.#names = new Map(nodes.map(({ id, name }) => [nodeTag(id), name]));
    this.#labels = new Map(nodes.map(({ id, qualified = [] }) => [nodeTag(id), labelled(nodeTag(id), qualified)]));
    for (const [tag, name] of this.#names) addTo(this.#tags, name, tag);
    for (const { id, qualified = [] } of nodes) {
      for (const name of qualified) addTo(this.#qualified, name, nodeTag(id));
    }
  }

  /** In the same order of precedence as for a single rule: built-in, group, tag, name of a node. */
  find(text: string): FoundTarget {
    const builtIn = BUILT_IN_POLICIES.find((policy) => policy === text.toUpperCase());
    if (builtIn !== undefined) return { tag: builtIn };
    if (this.#groups.has(text) || this.#names.has(text)) return { tag: text };
    return this.findNode(text);
  }

  /** Like `find`, for texts from elsewhere: what looks like one of our tags is a name there. */
  findName(text: string): FoundTarget {
    return this.#names.has(text) && !this.#groups.has(text) ? this.findNode(text) : this.find(text);
  }

  private findNode(name: string): FoundTarget {
    const tags = this.#tags.get(name) ?? this.#qualified.get(name) ?? [];
    const [tag, ...others] = tags;
    if (tag === undefined) {
      return { problem: 'UNKNOWN_TARGET', message: `${quote(name)} is not a group, node or built-in policy` };
    }
    if (others.length === 0) return { tag };
    const some = tags
      .slice(0, 5)
      .map((each) => this.#labels.get(each) ?? each)
      .join(' or ');
    return { problem: 'AMBIGUOUS_TARGET', message: `${tags.length} nodes are called ${quote(name)}: use ${some}` };
  }

  /** The text for a tag in a rule line: the node's name if it is read back as the same node, otherwise the tag. */
  readable(tag: string): string {
    const name = this.#names.get(tag);
    if (name === undefined || !fitsLine(name) || nodeIdOf(name) !== null) return tag;
    const found = this.find(name);
    return 'tag' in found && found.tag === tag ? name : tag;
  }
}

export async function loadTargetNames(sql: SqlRunner): Promise<TargetNames> {
  const groups = (await sql.query('SELECT name FROM outbound_groups')) as { name: string }[];
  const nodes = (await sql.query(
    `SELECT id, ${NODE_NAME} AS name, ${QUALIFIED_NAMES} AS qualified FROM nodes`,
  )) as NodeRow[];
  return new TargetNames(
    groups.map(({ name }) => name),
    nodes,
  );
}

function addTo(tags: Map<string, string[]>, name: string, tag: string): void {
  const same = tags.get(name);
  if (same === undefined) tags.set(name, [tag]);
  else same.push(tag);
}

/** A comma ends a field of a line, ` #` and ` //` begin a comment. */
function fitsLine(name: string): boolean {
  return name !== '' && name === name.trim() && !/[,\p{Cc}]|\s(#|\/\/)|^(#|\/\/)/u.test(name);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
