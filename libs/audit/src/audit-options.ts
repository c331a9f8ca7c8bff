import { join, parse } from 'node:path';

/** What a service gives to its audit log. An abstract class because it is also the injection token. */
export abstract class AuditOptions {
  abstract readonly service: string;
  /** GATEHOUSE_HOME. */
  abstract readonly home: string;
  /** Rows older than this are removed; asked at each sweep. */
  abstract readonly retentionDays: () => number;
}

/** Where the witness writes: AUDIT_WITNESS_FILE with the service in its name, else a file in the home; null: nowhere. */
export function witnessPath(home: string, service: string, setting: string | undefined): string | null {
  if (setting === 'off') return null;
  if (setting === undefined) return join(home, 'audit-witness', `${service}.jsonl`);
  const { dir, name, ext } = parse(setting);
  return join(dir, `${name}-${service}${ext}`);
}
