import { join, parse } from 'node:path';

/** The options of a service for its audit log. An abstract class because it is also the injection token. */
export abstract class AuditOptions {
  abstract readonly service: string;
  /** GATEHOUSE_HOME. */
  abstract readonly home: string;
  /** Rows older than this are deleted; read at each sweep. */
  abstract readonly retentionDays: () => number;
}

/** The file of the witness: AUDIT_WITNESS_FILE with the service in its name, or else a file in the home; null: none. */
export function witnessPath(home: string, service: string, setting: string | undefined): string | null {
  if (setting === 'off') return null;
  if (setting === undefined) return join(home, 'audit-witness', `${service}.jsonl`);
  const { dir, name, ext } = parse(setting);
  return join(dir, `${name}-${service}${ext}`);
}
