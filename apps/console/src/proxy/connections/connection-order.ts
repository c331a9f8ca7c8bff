import { closedAt, keyOf, type ListedConnection } from './connection-history.js';
import { hostOf, nodeOf, ruleOf } from './connection-filter.js';

export const DEFAULT_ORDER = '-start';

/** What the orders of the list compare. */
const VALUES: Readonly<Record<string, (row: ListedConnection) => string | number>> = {
  host: hostOf,
  source: ({ source_ip, source_port }) => `${source_ip} ${String(source_port).padStart(5, '0')}`,
  rule: ruleOf,
  chain: ({ chains }) => chains.join(' '),
  node: nodeOf,
  destination: ({ destination_ip }) => destination_ip ?? '',
  network: ({ network, type }) => `${network} ${type}`,
  inbound: ({ inbound_name }) => inbound_name,
  speed: ({ download_speed: down, upload_speed: up }) => down + up,
  traffic: ({ download, upload }) => download + upload,
  download_speed: ({ download_speed }) => download_speed,
  upload_speed: ({ upload_speed }) => upload_speed,
  download: ({ download }) => download,
  upload: ({ upload }) => upload,
  duration_ms: ({ duration_ms }) => duration_ms,
  start: ({ start }) => start,
  closed: (row) => closedAt(row) ?? '',
};

/** @param order a name of a value; a minus sign before it: descending. Rows that are equal keep one order. */
export function sortConnections<T extends ListedConnection>(rows: readonly T[], order: string): T[] {
  const isDescending = order.startsWith('-');
  const valueOf = VALUES[isDescending ? order.slice(1) : order] ?? (({ start }: T) => start);
  const keyed = rows.map((row) => ({ row, value: valueOf(row), key: keyOf(row) }));
  keyed.sort((a, b) => compare(a.value, b.value) * (isDescending ? -1 : 1) || compare(a.key, b.key));
  return keyed.map(({ row }) => row);
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
