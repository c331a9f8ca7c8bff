/** A query parameter in the specification; numbers are whole. */
export interface SpecifiedParameter {
  type: 'integer' | 'string';
  values?: readonly string[];
  default?: number | string;
  maximum?: number;
}

/** One row of the specification's tables. */
export interface SpecifiedOperation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  status: 200 | 201;
  query?: Readonly<Record<string, SpecifiedParameter>>;
  /** The fields of the body and their JSON types; `?` after a name: optional. */
  body?: Readonly<Record<string, string>>;
  /** Needs no credentials. */
  open?: true;
  /** Answers with a file. */
  file?: true;
}

const INTEGER: SpecifiedParameter = { type: 'integer' };
const TEXT: SpecifiedParameter = { type: 'string' };
const PAGE: SpecifiedParameter = { type: 'integer', default: 50, maximum: 500 };
const LIMIT: SpecifiedParameter = { type: 'integer', default: 50 };
const OFFSET: SpecifiedParameter = { type: 'integer', default: 0 };
const SUBSCRIPTION = {
  'name?': 'string',
  'url?': 'string',
  'type?': 'string',
  'interval_sec?': 'integer',
  'enabled?': 'boolean',
};

/** Written from the tables of the specification, not from our code: all 42 operations. */
export const SPECIFIED: readonly SpecifiedOperation[] = [
  { method: 'POST', path: '/auth/login', status: 200, body: { password: 'string' }, open: true },
  { method: 'GET', path: '/auth/status', status: 200, open: true },
  { method: 'GET', path: '/api-keys', status: 200 },
  { method: 'POST', path: '/api-keys', status: 201, body: { 'name?': 'string' } },
  { method: 'DELETE', path: '/api-keys/{id}', status: 200 },
  {
    method: 'GET',
    path: '/dashboard',
    status: 200,
    query: {
      live_domain_limit: PAGE,
      live_node_limit: PAGE,
      period_domain_limit: PAGE,
      period_node_limit: PAGE,
      live_domain_offset: OFFSET,
      live_node_offset: OFFSET,
      period_domain_offset: OFFSET,
      period_node_offset: OFFSET,
    },
  },
  { method: 'GET', path: '/connections', status: 200 },
  { method: 'GET', path: '/subscriptions', status: 200 },
  { method: 'POST', path: '/subscriptions', status: 201, body: SUBSCRIPTION },
  { method: 'PUT', path: '/subscriptions/{id}', status: 200, body: SUBSCRIPTION },
  { method: 'DELETE', path: '/subscriptions/{id}', status: 200 },
  { method: 'POST', path: '/subscriptions/{id}/refresh', status: 200 },
  {
    method: 'GET',
    path: '/proxies',
    status: 200,
    query: {
      source: { type: 'string', values: ['manual', 'subscription'] },
      subscription_id: INTEGER,
      country: TEXT,
      limit: PAGE,
      offset: OFFSET,
    },
  },
  {
    method: 'POST',
    path: '/proxies',
    status: 201,
    body: { 'name?': 'string', 'type?': 'string', raw_config: 'string' },
  },
  {
    method: 'GET',
    path: '/proxies/export',
    status: 200,
    query: { format: { type: 'string', values: ['json', 'links', 'text', 'txt'], default: 'json' } },
    file: true,
  },
  {
    method: 'POST',
    path: '/proxies/import',
    status: 200,
    body: { 'mode?': 'string', 'text?': 'string', 'nodes?': 'array' },
  },
  { method: 'PUT', path: '/proxies/{id}', status: 200, body: {} },
  { method: 'DELETE', path: '/proxies/{id}', status: 200 },
  { method: 'POST', path: '/proxies/{id}/test', status: 200 },
  { method: 'POST', path: '/proxies/test-all', status: 200 },
  { method: 'POST', path: '/proxies/rebuild-countries', status: 200 },
  { method: 'GET', path: '/countries', status: 200 },
  { method: 'GET', path: '/outbound', status: 200 },
  { method: 'PUT', path: '/outbound/groups/{name}', status: 200, body: { proxy: 'string' } },
  { method: 'PUT', path: '/outbound/default-policy', status: 200, body: { policy: 'string' } },
  { method: 'GET', path: '/rules', status: 200, query: { source: TEXT } },
  { method: 'POST', path: '/rules', status: 201, body: {} },
  {
    method: 'GET',
    path: '/rules/export',
    status: 200,
    query: { format: { type: 'string', values: ['json', 'text', 'txt', 'clash'], default: 'json' } },
    file: true,
  },
  {
    method: 'POST',
    path: '/rules/import',
    status: 200,
    body: { 'mode?': 'string', 'text?': 'string', 'rules?': 'array' },
  },
  { method: 'GET', path: '/rules/merged', status: 200, query: { limit: INTEGER, offset: OFFSET } },
  { method: 'POST', path: '/rules/test', status: 200, body: { url: 'string' } },
  { method: 'PUT', path: '/rules/{id}', status: 200, body: {} },
  { method: 'DELETE', path: '/rules/{id}', status: 200 },
  { method: 'GET', path: '/traffic-logs', status: 200, query: { keyword: TEXT, limit: LIMIT, offset: OFFSET } },
  { method: 'GET', path: '/logs', status: 200, query: { level: TEXT, limit: INTEGER } },
  { method: 'GET', path: '/audit-logs', status: 200 },
  { method: 'GET', path: '/settings', status: 200 },
  { method: 'PUT', path: '/settings', status: 200, body: {} },
  { method: 'GET', path: '/system/status', status: 200 },
  { method: 'POST', path: '/system/reload', status: 200 },
  { method: 'GET', path: '/system/geo', status: 200 },
  { method: 'POST', path: '/system/geo/update', status: 200, body: { 'force?': 'boolean' } },
];
