import { AppError } from '@gatehouse/platform';
import { BUILT_IN_POLICIES } from '@gatehouse/proxy-kernel';
import { NODE_NAME, QUALIFIED_NAMES } from '../data/node-names.js';
import { nodeIdOf } from '../data/flow-names.js';
import { labelled } from '../outbound/policy-reference.js';
import type { SqlRunner } from '../traffic/log-partitions.js';

/** The present state of a stored target. */
export interface TargetState {
  /** The name that users see. */
  name: string;
  /** Why the kernel skips a rule with this target; null if it does not. */
  problem: string | null;
}

interface NodeRow {
  id: number;
  name: string;
  enabled: boolean;
  qualified: string[];
}

const SELECT_NODES = `SELECT id, ${NODE_NAME} AS name, enabled, ${QUALIFIED_NAMES} AS qualified FROM nodes`;

/**
 * Resolves a name that a user gave to a kernel tag. `Provider/Tokyo` is the node of that name in that subscription.
 * @throws AppError UNPROCESSABLE if it names nothing, or several nodes.
 */
export async function resolveTarget(sql: SqlRunner, text: string): Promise<string> {
  const builtIn = BUILT_IN_POLICIES.find((policy) => policy === text.toUpperCase());
  if (builtIn !== undefined) return builtIn;
  const groups = (await sql.query('SELECT name FROM outbound_groups WHERE name = $1', [text])) as { name: string }[];
  if (groups.length > 0) return text;
  const nodes = (await sql.query(`${SELECT_NODES} WHERE id = $1 OR ${NODE_NAME} = ANY ($2) ORDER BY id LIMIT 50`, [
    nodeIdOf(text),
    [text, ...endings(text)],
  ])) as NodeRow[];
  const called = nodes.filter(({ name }) => name === text);
  const named = called.length > 0 ? called : nodes.filter(({ qualified }) => qualified.includes(text));
  // A tag is exact and takes precedence over a node that a user named "n12".
  const chosen = nodes.find((node) => tagOf(node) === text) ?? (named.length === 1 ? named[0] : undefined);
  if (chosen !== undefined) return tagOf(chosen);
  throw unknownTarget(text, named);
}

/**
 * The names and states of the given targets; one that is gone is absent.
 * @param dialled tags of the nodes that the kernel can dial; null while unknown.
 */
export async function describeTargets(
  sql: SqlRunner,
  tags: readonly string[],
  dialled: ReadonlySet<string> | null,
): Promise<Map<string, TargetState>> {
  const states = new Map<string, TargetState>(BUILT_IN_POLICIES.map((name) => [name, { name, problem: null }]));
  const ids = tags.map(nodeIdOf).filter((id) => id !== null);
  const groups = (await sql.query('SELECT name FROM outbound_groups')) as { name: string }[];
  const nodes = (await sql.query(`${SELECT_NODES} WHERE id = ANY ($1::bigint[])`, [ids])) as NodeRow[];
  for (const node of nodes) {
    states.set(tagOf(node), { name: node.name, problem: problemOf(node, dialled) });
  }
  for (const { name } of groups) states.set(name, { name, problem: null });
  return states;
}

function problemOf(node: NodeRow, dialled: ReadonlySet<string> | null): string | null {
  if (!node.enabled) return `node ${tagOf(node)} is disabled`;
  return dialled === null || dialled.has(tagOf(node)) ? null : `node ${tagOf(node)} needs an external kernel`;
}

/** What stands behind each slash: either may be part of a name. */
function endings(text: string): string[] {
  return [...text.matchAll(/\//g)].slice(0, 50).map(({ index }) => text.slice(index + 1));
}

function tagOf(node: { id: number }): string {
  return `n${node.id}`;
}

function unknownTarget(text: string, nodes: readonly NodeRow[]): AppError {
  const several = `${nodes.length} nodes have this name: use ${nodes
    .slice(0, 5)
    .map((node) => labelled(tagOf(node), node.qualified))
    .join(' or ')}`;
  const message = nodes.length > 1 ? several : 'is not a group, node or built-in policy';
  return new AppError('UNPROCESSABLE', `target ${JSON.stringify(text)}: ${message}`, {
    details: [{ field: 'target', message }],
  });
}
