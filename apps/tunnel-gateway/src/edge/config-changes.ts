import { readAllRows, readRevision, readRows, type ConfigRows, type RowSelection } from '../common/config-rows.js';
import type { Queries } from '../common/edge-database.js';

/** What a revision changed, as recorded by the tables' triggers. */
type ChangeKind = 'users' | 'clients' | 'tunnels' | 'hosts' | 'ip_rules' | 'address_lists' | 'auth_policies' | 'all';

/** Minimum number of recorded revisions. */
const KEPT_REVISIONS = 1_000;
/** With more changes than that, reading everything is as fast. */
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
 * The current configuration, based on the earlier revision `before`: unchanged rows are not read again and stay the
 * same objects, in the same array if no row of a kind changed. Everything is read in one snapshot of the database.
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
    addressLists: idsOf('address_lists'),
    policies: idsOf('auth_policies'),
  };
  const now = await readRows(queries, wanted);
  return {
    revision,
    clients: replaceRows(before.clients, wanted.clients, now.clients),
    tunnels: replaceRows(before.tunnels, wanted.tunnels, now.tunnels),
    hosts: replaceRows(before.hosts, wanted.hosts, now.hosts),
    ipRules: replaceRows(before.ipRules, wanted.ipRules, now.ipRules),
    addressLists: replaceRows(before.addressLists ?? [], wanted.addressLists, now.addressLists ?? []),
    policies: replaceRows(before.policies, wanted.policies, now.policies),
  };
}

/** Null: some are unknown, or there are too many. */
async function readChanges(queries: Queries, from: number, to: number): Promise<Change[] | null> {
  // A lower revision, for example after a restore from a backup, has another history.
  if (to < from || to - from > KEPT_REVISIONS) return null;
  const { rows } = await queries.query<Change>(CHANGES, [from, to]);
  if (rows.length > MAX_CHANGES || rows.some(({ kind }) => kind === 'all')) return null;
  // A revision without recorded changes was increased by hand.
  return new Set(rows.map(({ revision }) => revision)).size === to - from ? rows : null;
}

/** Sorted by id; requested rows that were not found are removed. */
function replaceRows<R extends { id: number }>(before: R[], asked: readonly number[], found: readonly R[]): R[] {
  if (asked.length === 0 && found.length === 0) return before;
  const gone = new Set([...asked, ...found.map(({ id }) => id)]);
  return [...before.filter(({ id }) => !gone.has(id)), ...found].sort((a, b) => a.id - b.id);
}
