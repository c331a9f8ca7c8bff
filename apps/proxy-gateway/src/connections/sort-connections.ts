import type { ConnectionSnapshot } from '@gatehouse/proxy-kernel';

/** The values of `sort`; a leading minus sign reverses the order. */
const SORT_FIELDS = ['start', 'duration_ms', 'upload', 'download', 'upload_speed', 'download_speed', 'host'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

type Compare = (a: ConnectionSnapshot, b: ConnectionSnapshot) => number;

const COMPARE: Readonly<Record<SortField, Compare>> = {
  start: (a, b) => a.startedAt - b.startedAt,
  duration_ms: (a, b) => b.startedAt - a.startedAt,
  upload: (a, b) => a.upload - b.upload,
  download: (a, b) => a.download - b.download,
  upload_speed: (a, b) => a.uploadSpeed - b.uploadSpeed,
  download_speed: (a, b) => a.downloadSpeed - b.downloadSpeed,
  host: (a, b) => compareText(hostOf(a), hostOf(b)),
};

export const SORT_VALUES: readonly string[] = SORT_FIELDS.flatMap((field) => [field, `-${field}`]);

/** Newest first by default. Equal connections keep a fixed order, so that pages do not overlap. */
export function sortConnections<Open extends ConnectionSnapshot>(
  connections: readonly Open[],
  sort = '-start',
): Open[] {
  const descending = sort.startsWith('-');
  const name = descending ? sort.slice(1) : sort;
  const field = SORT_FIELDS.find((candidate) => candidate === name) ?? 'start';
  const compare = COMPARE[field];
  return [...connections].sort((a, b) => (descending ? compare(b, a) : compare(a, b)) || compareText(a.id, b.id));
}

function hostOf(connection: ConnectionSnapshot): string {
  return connection.host ?? connection.destinationIp ?? '';
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
