import type { LoggedFlow } from './accounting-batch.js';
import { nodeIdOf } from '../data/flow-names.js';
import type { FlowNames } from '../data/flow-names.js';

/** A column of `traffic_logs`, in table order, with its type. */
interface LogColumn {
  name: string;
  /** The element type of the array with the column's values. */
  type: string;
  value(record: LoggedFlow, names: FlowNames): unknown;
}

const MAX_TEXT = 2_048;

const optionalText = (text: string | null | undefined): string | null => (text == null ? null : clean(text));

const LOG_COLUMNS: readonly LogColumn[] = [
  { name: 'started_at', type: 'timestamptz', value: (record) => new Date(record.startedAt) },
  { name: 'ended_at', type: 'timestamptz', value: (record) => new Date(record.endedAt) },
  { name: 'client_ip', type: 'text', value: (record) => record.sourceIp },
  { name: 'client_port', type: 'integer', value: (record) => record.sourcePort },
  { name: 'inbound', type: 'text', value: (record) => record.inboundName },
  { name: 'inbound_user', type: 'text', value: (record) => optionalText(record.inboundUser) },
  { name: 'network', type: 'text', value: (record) => record.network },
  { name: 'method', type: 'text', value: (record) => optionalText(record.httpMethod) },
  { name: 'host', type: 'text', value: (record) => optionalText(record.host) },
  { name: 'target_port', type: 'integer', value: (record) => record.destinationPort },
  { name: 'destination_ip', type: 'text', value: (record) => record.destinationIp },
  { name: 'url', type: 'text', value: (record) => optionalText(record.httpUrl) },
  { name: 'rule_id', type: 'bigint', value: (record) => record.rule?.id ?? null },
  { name: 'rule_type', type: 'text', value: (record) => record.rule?.type ?? null },
  { name: 'rule_payload', type: 'text', value: (record) => record.rule?.payload ?? null },
  { name: 'chains', type: 'jsonb', value: (record, names) => JSON.stringify(names.chain(record.chain)) },
  { name: 'node_id', type: 'bigint', value: (record) => nodeIdOf(record.nodeTag) },
  { name: 'node_name', type: 'text', value: (record, names) => names.node(record.nodeTag)?.name ?? null },
  { name: 'node_country', type: 'text', value: (record, names) => names.node(record.nodeTag)?.country ?? null },
  { name: 'exit_ip', type: 'text', value: (record, names) => names.node(record.nodeTag)?.exitIp ?? null },
  { name: 'upload', type: 'bigint', value: (record) => record.upload },
  { name: 'download', type: 'bigint', value: (record) => record.download },
  { name: 'status', type: 'text', value: (record) => record.status },
  { name: 'http_status', type: 'integer', value: (record) => record.httpStatus },
  { name: 'error_stage', type: 'text', value: (record) => record.errorStage },
  { name: 'error_kind', type: 'text', value: (record) => record.errorKind },
  { name: 'error_errno', type: 'text', value: (record) => record.errorErrno },
  { name: 'error_message', type: 'text', value: (record) => optionalText(record.errorMessage) },
  { name: 'close_reason', type: 'text', value: (record) => record.closeReason },
  { name: 'kernel', type: 'text', value: (record) => optionalText(record.kernel) },
  { name: 'search_text', type: 'text', value: searchText },
];

/** The text that keyword searches look at: lower case, one field per line, so that no match spans two fields. */
export function searchText(record: LoggedFlow, names: FlowNames): string {
  const rule = record.rule === null ? null : `${record.rule.type},${record.rule.payload}`;
  const fields = [
    record.host,
    record.destinationIp,
    names.node(record.nodeTag)?.name,
    rule,
    record.sourceIp,
    record.inboundUser,
    record.kernel,
  ];
  return clean(fields.filter((field) => field != null && field !== '').join('\n'))
    .toLowerCase()
    .toWellFormed();
}

/** PostgreSQL text cannot contain NUL, and a hostile client must not fill the log with one line. */
function clean(text: string): string {
  return text.replaceAll('\0', '').slice(0, MAX_TEXT);
}

/** The values of many records, one array per column, as `unnest` takes them. */
export function logColumnArrays(records: readonly LoggedFlow[], names: FlowNames): unknown[][] {
  return LOG_COLUMNS.map((column) => records.map((record) => column.value(record, names)));
}

export const INSERT_LOGS_SQL = `INSERT INTO traffic_logs (${LOG_COLUMNS.map((column) => column.name).join(', ')})
  SELECT * FROM unnest(${LOG_COLUMNS.map((column, index) => `$${index + 1}::${column.type}[]`).join(', ')})`;
