import { Flag, FlaggedName } from '../../shared/components/flag.js';
import type { VirtualColumn } from '../../shared/components/virtual-table.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { hostOf, nodeOf } from './connection-filter.js';
import { closedAt, type ListedConnection } from './connection-history.js';

type Column = VirtualColumn<ListedConnection>;

/** Where a row leads. */
export interface ConnectionActions {
  onOpen: (connection: ListedConnection) => void;
  onMakeRule: (connection: ListedConnection) => void;
  onClose: (connection: ListedConnection) => void;
}

/** Every column that a reader can choose, in their order. */
export const CHOICES = [
  { id: 'host', head: t('words.host') },
  { id: 'destination', head: t('connections.destination') },
  { id: 'network', head: t('connections.network') },
  { id: 'source', head: t('connections.source') },
  { id: 'inbound', head: t('connections.inbound') },
  { id: 'rule', head: t('words.rule') },
  { id: 'chain', head: t('connections.chain') },
  { id: 'node', head: t('words.node') },
  { id: 'speed', head: t('connections.speed') },
  { id: 'traffic', head: t('words.bytes') },
  { id: 'download_speed', head: t('connections.downSpeed') },
  { id: 'upload_speed', head: t('connections.upSpeed') },
  { id: 'download', head: t('connections.received') },
  { id: 'upload', head: t('connections.sent') },
  { id: 'duration_ms', head: t('connections.age') },
  { id: 'start', head: t('connections.started') },
] as const;

type ColumnId = (typeof CHOICES)[number]['id'];

export const COLUMN_IDS: readonly string[] = CHOICES.map(({ id }) => id);
export const DEFAULT_COLUMNS: readonly string[] = ['host', 'source', 'rule', 'speed', 'traffic', 'duration_ms'];

const AMOUNT = { width: 92, right: true } as const;

/** How each column is drawn; `host` also opens the details. */
const DRAWN: Readonly<Record<Exclude<ColumnId, 'host'>, Omit<Column, 'id' | 'head'>>> = {
  destination: {
    width: 130,
    sort: 'destination',
    cell: ({ destination_ip, destination_country, destination_asn }) => (
      <>
        {destination_country !== null && <Flag code={destination_country} />} {destination_ip ?? '–'}
        <span class="second">{[destination_country, destination_asn].filter(Boolean).join(' · ')}</span>
      </>
    ),
  },
  network: { width: 110, sort: 'network', cell: ({ network, type }) => `${network} · ${type}` },
  source: { width: 130, sort: 'source', cell: (row) => <Source connection={row} /> },
  inbound: { width: 110, sort: 'inbound', cell: ({ inbound_name: name }) => name },
  rule: { width: 120, grow: 1, sort: 'rule', cell: (row) => <RuleOf connection={row} /> },
  chain: { width: 180, grow: 1, sort: 'chain', cell: ({ chains }) => <FlaggedName name={chains.join(' → ')} /> },
  node: { width: 130, sort: 'node', cell: (row) => nodeOf(row) },
  speed: {
    width: 106,
    right: true,
    sort: 'speed',
    cell: ({ download_speed: down, upload_speed: up }) => <Both down={formatRate(down)} up={formatRate(up)} />,
  },
  traffic: {
    width: 100,
    right: true,
    sort: 'traffic',
    cell: ({ download, upload }) => <Both down={formatBytes(download)} up={formatBytes(upload)} />,
  },
  download_speed: { ...AMOUNT, sort: 'download_speed', cell: ({ download_speed }) => formatRate(download_speed) },
  upload_speed: { ...AMOUNT, sort: 'upload_speed', cell: ({ upload_speed }) => formatRate(upload_speed) },
  download: { ...AMOUNT, sort: 'download', cell: ({ download }) => formatBytes(download) },
  upload: { ...AMOUNT, sort: 'upload', cell: ({ upload }) => formatBytes(upload) },
  duration_ms: { ...AMOUNT, sort: 'duration_ms', cell: ({ duration_ms }) => formatDuration(duration_ms) },
  start: { width: 160, sort: 'start', cell: ({ start }) => formatTime(start) },
};

/** Everything that the list can be ordered by. */
export const ORDERS = CHOICES.map(({ id, head }) => ({ head, sort: id === 'host' ? 'host' : DRAWN[id].sort }));

const KERNEL: Column = {
  id: 'kernel',
  head: t('connections.kernel'),
  width: 120,
  cell: ({ kernel }) => kernel ?? '–',
};

export interface ColumnOptions {
  isClosedView: boolean;
  /** Rows say which kernel has them. */
  hasKernels: boolean;
}

/** The chosen columns, and what can be done with a row. Closed connections also say when they closed. */
export function columnsOf(
  chosen: readonly string[],
  { isClosedView, hasKernels }: ColumnOptions,
  actions: ConnectionActions,
): Column[] {
  const picked = CHOICES.filter(({ id }) => chosen.includes(id)).map(({ id, head }): Column =>
    id === 'host'
      ? {
          id,
          head,
          width: 180,
          grow: 2,
          sort: 'host',
          cell: (row) => <Target connection={row} onOpen={actions.onOpen} withChain={!chosen.includes('chain')} />,
        }
      : { id, head, ...DRAWN[id] },
  );
  const ended: Column = {
    id: 'closed',
    head: t('connections.ended'),
    width: 160,
    sort: 'closed',
    cell: (row) => formatTime(closedAt(row) ?? row.start),
  };
  return [
    ...picked,
    ...(hasKernels ? [KERNEL] : []),
    ...(isClosedView ? [ended] : []),
    {
      id: 'actions',
      head: t('words.actions'),
      quietHead: true,
      width: isClosedView ? 90 : 150,
      cell: (row) => <RowButtons connection={row} actions={actions} />,
    },
  ];
}

function Both({ down, up }: { down: string; up: string }) {
  return (
    <>
      <span class="flow">{`↓ ${down}`}</span>
      <span class="flow">{`↑ ${up}`}</span>
    </>
  );
}

function RowButtons({ connection, actions }: { connection: ListedConnection; actions: ConnectionActions }) {
  const host = hostOf(connection);
  return (
    <span class="cell-actions">
      <button
        type="button"
        class="small"
        aria-label={t('connections.makeRuleOf', { host })}
        onClick={() => actions.onMakeRule(connection)}
      >
        {t('connections.ruleShort')}
      </button>
      {closedAt(connection) === null && (
        <button
          type="button"
          class="small"
          aria-label={t('connections.closeOne', { host })}
          onClick={() => actions.onClose(connection)}
        >
          {t('connections.close')}
        </button>
      )}
    </span>
  );
}

interface TargetProps {
  connection: ListedConnection;
  onOpen: (connection: ListedConnection) => void;
  withChain: boolean;
}

function Target({ connection, onOpen, withChain }: TargetProps) {
  const { chains, network, state, destination_port: port } = connection;
  const isUnsettled = state !== 'open' && closedAt(connection) === null;
  const details = [network, ...(isUnsettled ? [t(`connections.states.${state}`)] : [])];
  return (
    <>
      <button
        type="button"
        class="link"
        title={`${hostOf(connection)}:${port}`}
        aria-label={t('connections.openDetail', { host: `${hostOf(connection)}:${port}` })}
        onClick={() => onOpen(connection)}
      >
        {`${hostOf(connection)}:${port}`}
      </button>
      <span class="second">
        <FlaggedName name={[...details, ...(withChain ? [chains.join(' → ')] : [])].join(' · ')} />
      </span>
    </>
  );
}

function Source({ connection }: { connection: ListedConnection }) {
  const { source_ip: ip, source_port: port, type, inbound_name: inbound, inbound_user: user } = connection;
  return (
    <>
      {`${ip}:${port}`}
      <span class="second">{[type, inbound, user].filter(Boolean).join(', ')}</span>
    </>
  );
}

function RuleOf({ connection: { rule, rule_payload: payload } }: { connection: ListedConnection }) {
  return (
    <span title={payload ?? ''}>
      {rule ?? t('connections.defaultRule')}
      <span class="second">{payload ?? ''}</span>
    </span>
  );
}

/** A connection on a phone. */
export function ConnectionCard({ row, actions }: { row: ListedConnection; actions: ConnectionActions }) {
  const { download_speed: down, upload_speed: up, download, upload, duration_ms: age } = row;
  const isClosed = closedAt(row) !== null;
  return (
    <>
      <div class="line">
        <Target connection={row} onOpen={actions.onOpen} withChain={false} />
        <RowButtons connection={row} actions={actions} />
      </div>
      <span class="second">
        <FlaggedName name={row.chains.join(' → ')} />
      </span>
      <span class="second">
        {isClosed
          ? `↓ ${formatBytes(download)} · ↑ ${formatBytes(upload)} · ${formatDuration(age)}`
          : `↓ ${formatRate(down)} · ↑ ${formatRate(up)} · ${formatBytes(download + upload)} · ${formatDuration(age)}`}
      </span>
    </>
  );
}
