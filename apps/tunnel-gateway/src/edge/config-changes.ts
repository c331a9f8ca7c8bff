import { readAllRows, readRevision, readRows, type ConfigRows, type RowSelection } from '../common/config-rows.js';
import type { Queries } from '../common/edge-database.js';

/** What a revision changed; as the triggers of the tables say. */
type ChangeKind = 'users' | 'clients' | 'tunnels' | 'hosts' | 'ip_rules' | 'auth_policies' | 'all';

/** So many revisions are remembered at least. */
const KEPT_REVISIONS = 1_000;
/** With more than that it is as quick to read everything. */
const MAX_CHANGES = 2_000;

const CHANGES = `
  SELECT kind, row_id AS id, revision FROM tunnel_gateway_ops.config_changes
  WHERE revision > $1 AND revision <= $2 LIMIT ${MAX_CHANGES + 1}`;

interface Change {
  kind: ChangeKind;
  id: number;
  revision: number;
}

/**
 * The configuration as it is now, of which `before` was an earlier revision: rows that did not change are not read again,
 * and stay the same objects, in the same array where none of a kind changed. Within one look at the database.
 */
export async function readConfigRows(queries: Queries, before: ConfigRows | null): Promise<ConfigRows> {
  if (before === null) return readAllRows(queries);
  const revision = await readRevision(queries);
  if (revision === before.revision) return before;
  const changes = await readChanges(queries, before.revision, revision);
  if (changes === null) return readAllRows(queries);
  const idsOf = (kind: ChangeKind): number[] => changes.filter((change) => change.kind === kind).map(({ id }) => id);
  const wanted: RowSelection = {
    users: idsOf('users'),
    clients: idsOf('clients'),
    tunnels: idsOf('tunnels'),
    hosts: idsOf('hosts'),
    ipRules: idsOf('ip_rules'),
    policies: idsOf('auth_policies'),
  };
  const now = await readRows(queries, wanted);
  return {
    revision,
    clients: replaceRows(before.clients, wanted.clients, now.clients),
    tunnels: replaceRows(before.tunnels, wanted.tunnels, now.tunnels),
    hosts: replaceRows(before.hosts, wanted.hosts, now.hosts),
    ipRules: replaceRows(before.ipRules, wanted.ipRules, now.ipRules),
    policies: replaceRows(before.policies, wanted.policies, now.policies),
  };
}

/** Null: they are not all known, or too many. */
async function readChanges(queries: Queries, from: number, to: number): Promise<Change[] | null> {
  // A database that went back, such as to a backup, has another history.
  if (to < from || to - from > KEPT_REVISIONS) return null;
  const { rows } = await queries.query<Change>(CHANGES, [from, to]);
  if (rows.length > MAX_CHANGES || rows.some(({ kind }) => kind === 'all')) return null;
  // Each revision has said what it changed, or somebody counted it by hand.
  return new Set(rows.map(({ revision }) => revision)).size === to - from ? rows : null;
}

/** In the order of ids; what was asked for and is not there any more is removed. */
function replaceRows<R extends { id: number }>(before: R[], asked: readonly number[], found: readonly R[]): R[] {
  if (asked.length === 0 && found.length === 0) return before;
  const gone = new Set([...asked, ...found.map(({ id }) => id)]);
  return [...before.filter(({ id }) => !gone.has(id)), ...found].sort((a, b) => a.id - b.id);
}
