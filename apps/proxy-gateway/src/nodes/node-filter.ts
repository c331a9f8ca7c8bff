import type { NodeConditions } from './node.dto.js';

const UNKNOWN_COUNTRY = 'ZZ';
const NAME = 'coalesce(node.custom_name, node.original_name)';

/** The conditions of a query as SQL over `node` and `health`. */
export interface NodeSelection {
  /** `FROM …` with the joins that conditions and order need, and `WHERE …`. */
  from: string;
  orderBy: string;
  parameters: unknown[];
  /** Names statements over all nodes in this order, of which there are few. Null: there are conditions. */
  name: string | null;
}

const ORDERS: Readonly<Record<string, string>> = {
  id: 'node.id',
  name: `lower(${NAME})`,
  delay: 'CASE WHEN health.alive THEN health.delay_ms END',
  country: 'node.country',
  type: 'node.type',
  subscription: `(SELECT lower(subscription.name) FROM node_sources source JOIN subscriptions subscription
    ON subscription.id = source.subscription_id WHERE source.node_id = node.id ORDER BY source.subscription_id LIMIT 1)`,
  // Those that can be used, those that were not tested, those without an answer, and those that are disabled.
  status: 'CASE WHEN NOT node.enabled THEN 3 WHEN health.alive THEN 0 WHEN health.alive IS NULL THEN 1 ELSE 2 END',
};

/** The general measurements are joined only if the query needs them, since they double the cost of counting. */
export function selectNodes(query: NodeConditions): NodeSelection {
  const { conditions, parameters } = conditionsOf(query);
  const { sort = 'id' } = query;
  const descending = sort.startsWith('-');
  const column = ORDERS[descending ? sort.slice(1) : sort]!;
  const joined = query.alive !== undefined || column.includes('health.');
  const join = joined ? `LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = ''` : '';
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  // Ids break ties, so that pages do not overlap.
  const orderBy = `${column} ${descending ? 'DESC' : 'ASC'} NULLS LAST, node.id`;
  const name = conditions.length === 0 ? `nodes by ${sort}` : null;
  return { from: `FROM nodes node ${join} ${where}`, orderBy, parameters, name };
}

function conditionsOf(query: NodeConditions): { conditions: string[]; parameters: unknown[] } {
  const conditions: string[] = [];
  const parameters: unknown[] = [];
  const where = (value: unknown, condition: (parameter: string) => string): void => {
    if (value === undefined) return;
    parameters.push(value);
    conditions.push(condition(`$${parameters.length}`));
  };
  where(query.source, (value) => `node.source = ${value}`);
  where(query.type, (value) => `node.type = ${value}`);
  where(query.enabled, (value) => `node.enabled = ${value}`);
  where(query.tag, (value) => `${value} = ANY(node.tags)`);
  if (query.country === UNKNOWN_COUNTRY) conditions.push('node.country IS NULL');
  else where(query.country, (value) => `node.country = ${value}`);
  if (query.alive === 'unknown') conditions.push('health.alive IS NULL');
  else where(query.alive, (value) => `health.alive = ${value}::boolean`);
  const carried = 'SELECT 1 FROM node_sources WHERE node_id = node.id AND subscription_id';
  where(query.subscription_id, (value) => `EXISTS (${carried} = ${value})`);
  if (query.search) {
    const pattern = `%${query.search.replace(/[\\%_]/g, '\\$&')}%`;
    where(pattern, (value) =>
      ['node.custom_name', 'node.original_name', 'node.server']
        .map((column) => `${column} ILIKE ${value}`)
        .join(' OR '),
    );
    conditions.push(`(${conditions.pop()!})`);
  }
  return { conditions, parameters };
}
