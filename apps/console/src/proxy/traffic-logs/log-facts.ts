import type { TrafficLogView } from '@gatehouse/contracts';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { resultOf } from './log-result.js';

type Fact = [string, string | null];

/** Everything that is known of a connection that ended. */
export function factsOf(log: TrafficLogView): Fact[] {
  const failure = [log.error_stage, log.error_kind, log.error_errno, log.error_message].filter((part) => part !== null);
  const address = `${log.client_ip}:${log.client_port}`;
  return [
    [
      t('common.time'),
      t('trafficLog.timeFact', { start: formatTime(log.started_at), duration: formatDuration(log.duration_ms) }),
    ],
    [
      t('trafficLog.client'),
      log.inbound_user === null ? address : t('trafficLog.clientAs', { address, user: log.inbound_user }),
    ],
    [t('trafficLog.listener'), log.inbound],
    [
      t('words.target'),
      `${log.host ?? '–'}:${log.target_port} (${log.destination_ip ?? t('trafficLog.unknownAddress')})`,
    ],
    [t('trafficLog.request'), log.url === null ? log.method : `${log.method ?? ''} ${log.url}`],
    [
      t('words.rule'),
      log.rule_type === null ? t('trafficLog.defaultPolicy') : `${log.rule_type},${log.rule_payload ?? ''}`,
    ],
    [t('trafficLog.chain'), log.chains.join(' → ')],
    [t('words.node'), log.node_name],
    [t('words.exitIp'), log.exit_ip],
    [t('words.bytes'), t('words.downUp', { down: formatBytes(log.download), up: formatBytes(log.upload) })],
    [
      t('trafficLog.result'),
      `${t(`trafficLog.results.${resultOf(log)}`)}${log.http_status === null ? '' : `, HTTP ${log.http_status}`}`,
    ],
    [t('trafficLog.failure'), failure.join(', ') || null],
    [t('trafficLog.closeReason'), log.close_reason],
    ...(log.kernel === null ? [] : ([[t('connections.kernel'), log.kernel]] as Fact[])),
  ];
}
