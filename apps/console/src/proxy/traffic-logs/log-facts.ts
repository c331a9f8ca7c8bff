import type { TrafficLogView } from '@gatehouse/contracts';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';

type Fact = [string, string | null];

/** Everything that is known of a connection that ended. */
export function factsOf(log: TrafficLogView): Fact[] {
  const failure = [log.error_stage, log.error_kind, log.error_errno, log.error_message].filter((part) => part !== null);
  return [
    ['Time', `${formatTime(log.started_at)}, ${formatDuration(log.duration_ms)}`],
    ['Client', `${log.client_ip}:${log.client_port}${log.inbound_user === null ? '' : ` as ${log.inbound_user}`}`],
    ['Listener', log.inbound],
    ['Target', `${log.host ?? '–'}:${log.target_port} (${log.destination_ip ?? 'address not known'})`],
    ['Request', log.url === null ? log.method : `${log.method ?? ''} ${log.url}`],
    ['Rule', log.rule_type === null ? 'default policy' : `${log.rule_type},${log.rule_payload ?? ''}`],
    ['Way', log.chains.join(' → ')],
    ['Node', log.node_name],
    ['Exit address', log.exit_ip],
    ['Bytes', `${formatBytes(log.download)} down, ${formatBytes(log.upload)} up`],
    ['Status', `${log.status}${log.http_status === null ? '' : `, HTTP ${log.http_status}`}`],
    ['Failure', failure.join(', ') || null],
    ['Ended because', log.close_reason],
  ];
}
