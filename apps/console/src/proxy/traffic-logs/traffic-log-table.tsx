import type { TrafficLogView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { FlaggedName } from '../../shared/components/flag.js';
import { Badge } from '../../shared/components/page.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { resultOf, toneOf } from './log-result.js';

type Open = (log: TrafficLogView) => void;

interface TrafficLogTableProps {
  rows: readonly TrafficLogView[] | undefined;
  empty: ComponentChildren;
  onOpen: Open;
  onEnd: () => void;
}

/** Connections that ended, of any number. */
export function TrafficLogTable({ rows, empty, onOpen, onEnd }: TrafficLogTableProps) {
  return (
    <VirtualTable
      caption={t('nav.trafficLog')}
      columns={columnsOf(onOpen, rows?.some(({ kernel }) => kernel !== null) ?? false)}
      rows={rows}
      rowKey={({ id }) => id}
      empty={empty}
      card={(log) => <LogCard log={log} onOpen={onOpen} />}
      cardHeight={96}
      onEnd={onEnd}
    />
  );
}

const KERNEL: VirtualColumn<TrafficLogView> = {
  id: 'kernel',
  head: t('connections.kernel'),
  width: 110,
  cell: ({ kernel }) => kernel ?? '–',
};

function columnsOf(onOpen: Open, hasKernels: boolean): VirtualColumn<TrafficLogView>[] {
  return [
    { id: 'ended', head: t('trafficLog.ended'), width: 98, cell: (log) => <Ended log={log} /> },
    {
      id: 'host',
      head: t('words.host'),
      width: 190,
      grow: 3,
      cell: (log) => (
        <>
          <Target log={log} onOpen={onOpen} />
          <span class="second">{`${log.client_ip} · ${log.network}`}</span>
        </>
      ),
    },
    { id: 'chain', head: t('trafficLog.chain'), width: 130, grow: 2, cell: (log) => <Chain log={log} /> },
    { id: 'rule', head: t('words.rule'), width: 136, grow: 1, cell: (log) => <Rule log={log} /> },
    ...(hasKernels ? [KERNEL] : []),
    { id: 'result', head: t('trafficLog.result'), width: 150, cell: (log) => <Result log={log} /> },
    {
      id: 'download',
      head: t('connections.received'),
      right: true,
      width: 110,
      cell: ({ download }) => formatBytes(download),
    },
    { id: 'upload', head: t('connections.sent'), right: true, width: 96, cell: ({ upload }) => formatBytes(upload) },
    {
      id: 'duration',
      head: t('trafficLog.duration'),
      right: true,
      width: 88,
      cell: ({ duration_ms }) => formatDuration(duration_ms),
    },
  ];
}

function Ended({ log }: { log: TrafficLogView }) {
  const [day, time] = formatTime(log.ended_at).split(' ');
  return (
    <>
      {time}
      <span class="second">{day}</span>
    </>
  );
}

function Target({ log, onOpen }: { log: TrafficLogView; onOpen: Open }) {
  const target = `${log.host ?? log.destination_ip ?? '?'}:${log.target_port}`;
  return (
    <button type="button" class="link" title={target} onClick={() => onOpen(log)}>
      {target}
    </button>
  );
}

function Chain({ log: { chains, node_country: country } }: { log: TrafficLogView }) {
  const name = chains.at(-1) ?? '–';
  return (
    <span title={chains.join(' → ')}>
      <FlaggedName name={name} country={country} />
      <span class="second">{chains.slice(0, -1).join(' → ')}</span>
    </span>
  );
}

function Rule({ log }: { log: TrafficLogView }) {
  return (
    <span title={log.rule_payload ?? ''}>
      {log.rule_type ?? t('connections.defaultRule')}
      <span class="second">{log.rule_payload ?? ''}</span>
    </span>
  );
}

function Result({ log }: { log: TrafficLogView }) {
  const result = resultOf(log);
  const word = t(`trafficLog.results.${result}`);
  const hint = result === 'noAnswer' ? t('trafficLog.noAnswerHint') : (log.error_message ?? undefined);
  // Without an answer, the status is the one that this gateway has sent for it.
  const hasStatus = log.http_status !== null && result !== 'noAnswer';
  return (
    <Badge tone={toneOf(result)} title={hint}>
      {hasStatus ? `${word} ${log.http_status}` : word}
    </Badge>
  );
}

/** A connection on a phone. */
function LogCard({ log, onOpen }: { log: TrafficLogView; onOpen: Open }) {
  return (
    <>
      <div class="line">
        <Target log={log} onOpen={onOpen} />
        <Result log={log} />
      </div>
      <span class="second">
        <FlaggedName name={log.chains.join(' → ')} /> · {log.rule_type ?? t('connections.defaultRule')}
      </span>
      <div class="line">
        <span class="second">{formatTime(log.ended_at)}</span>
        <span class="second">
          {t('words.downUp', { down: formatBytes(log.download), up: formatBytes(log.upload) })}
        </span>
      </div>
    </>
  );
}
