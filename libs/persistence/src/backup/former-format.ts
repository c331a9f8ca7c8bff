import type { BackupPartition, BackupTable } from './backup-header.js';

/** The column whose day (UTC) determines the partition of a row. Backups of version 1 did not contain the days. */
const DAY_COLUMNS: Readonly<Record<string, string>> = {
  'proxy_gateway.traffic_logs': 'ended_at',
  'resource_sharing.access_tokens': 'expires_at',
};

/** Determines the days of a table's rows in a backup of version 1, while the file is read. */
export class DaysOfRows {
  private readonly days = new Set<string>();
  private readonly table: BackupTable;
  private readonly column: number;
  private rest = '';

  constructor(table: BackupTable) {
    this.table = table;
    this.column = table.columns.indexOf(DAY_COLUMNS[`${table.schema}.${table.name}`] ?? '');
  }

  add(chunk: Buffer): void {
    if (this.column < 0) return;
    // Tabs, newlines and digits are single bytes in UTF-8, whatever is between them.
    const lines = (this.rest + chunk.toString('latin1')).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.days.add((line.split('\t')[this.column] ?? '').slice(0, 10));
  }

  partitions(): BackupPartition[] {
    const { schema, name } = this.table;
    return [...this.days]
      .filter((day) => /^\d{4}-\d{2}-\d{2}$/.test(day))
      .toSorted((a, b) => a.localeCompare(b))
      .map((day) => ({
        schema,
        name: `${name}_${day.replaceAll('-', '')}`,
        parent: name,
        bound: `FOR VALUES FROM ('${day} 00:00:00+00') TO ('${nextDay(day)} 00:00:00+00')`,
      }));
  }
}

function nextDay(day: string): string {
  const next = new Date(`${day}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}
