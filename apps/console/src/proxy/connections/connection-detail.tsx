import { Dialog } from '../../shared/components/dialog.js';
import { FlaggedName } from '../../shared/components/flag.js';
import { Badge, Facts } from '../../shared/components/page.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import type { ConnectionActions } from './connection-columns.js';
import { hostOf } from './connection-filter.js';
import { closedAt, type ListedConnection } from './connection-history.js';

interface ConnectionDetailProps {
  /** As it is now; closed ones as they were at their end. */
  connection: ListedConnection;
  actions: Pick<ConnectionActions, 'onMakeRule' | 'onClose'>;
  onDone: () => void;
}

/** Everything that is known of one connection; the figures go on while it is open. */
export function ConnectionDetail({ connection, actions, onDone }: ConnectionDetailProps) {
  const host = hostOf(connection);
  const isClosed = closedAt(connection) !== null;
  return (
    <Dialog title={t('connections.detailTitle', { host })} onClose={onDone} wide>
      <p class="chain" aria-label={t('connections.chain')} role="group">
        <ChainLinks connection={connection} />
      </p>
      <Facts facts={[...targetFacts(connection), ...routeFacts(connection), ...trafficFacts(connection)]} />
      <div class="dialog-actions">
        <a class="button" href={hrefTo('traffic', { keyword: host })}>
          {t('connections.inLog')}
        </a>
        <button type="button" onClick={() => actions.onMakeRule(connection)}>
          {t('connections.makeRule')}
        </button>
        {!isClosed && (
          <button type="button" class="danger" onClick={() => actions.onClose(connection)}>
            {t('connections.closeThis')}
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** From the rule's target over its groups to the node. */
function ChainLinks({
  connection: { chains, node_id: nodeId, node_country: country },
}: {
  connection: ListedConnection;
}) {
  return (
    <>
      {chains.map((name, index) => {
        const isLast = index === chains.length - 1;
        const href = !isLast ? hrefTo('groups') : nodeId === null ? null : hrefTo('nodes', { search: name });
        const label = <FlaggedName name={isLast && country !== null ? `${name} (${country})` : name} />;
        return (
          <>
            {index > 0 && <span aria-hidden="true"> → </span>}
            {href === null ? <strong>{label}</strong> : <a href={href}>{label}</a>}
          </>
        );
      })}
    </>
  );
}

type Fact = Parameters<typeof Facts>[0]['facts'][number];

function targetFacts(connection: ListedConnection): Fact[] {
  const { destination_ip: ip, destination_port: port, destination_country: country, destination_asn: asn } = connection;
  const { remote_destination: remote, node_id: nodeId } = connection;
  const place = [country, asn].filter(Boolean).join(' · ');
  return [
    [t('words.host'), `${connection.host ?? '–'}:${port}`],
    [t('connections.sniffed'), connection.sniff_host],
    [t('connections.destination'), ip === null ? place || null : place === '' ? ip : `${ip} (${place})`],
    [
      t('connections.remote'),
      remote === null || nodeId === null ? remote : t('connections.remoteHint', { address: remote }),
    ],
    [t('connections.network'), `${connection.network} · ${connection.type}`],
    [t('connections.dnsMode'), connection.dns_mode],
    [t('connections.source'), `${connection.source_ip}:${connection.source_port}`],
    [t('connections.inbound'), connection.inbound_name],
    [t('connections.user'), connection.inbound_user],
    ...(connection.kernel === null ? [] : ([[t('connections.kernel'), connection.kernel]] as Fact[])),
  ];
}

function routeFacts(connection: ListedConnection): Fact[] {
  const { rule, rule_payload: payload } = connection;
  return [
    [
      t('words.rule'),
      rule === null ? (
        t('connections.noRule')
      ) : (
        <a href={hrefTo('rules', { tab: 'merged', search: payload ?? '', type: rule })}>
          {payload === null || payload === '' ? rule : `${rule},${payload}`}
        </a>
      ),
    ],
    [t('connections.subscription'), connection.provider_chains.join(', ') || null],
  ];
}

function trafficFacts(connection: ListedConnection): Fact[] {
  const ended = closedAt(connection);
  const { state, download, upload, download_speed: down, upload_speed: up } = connection;
  return [
    [
      t('connections.state'),
      <Badge key="state" tone={ended === null && state === 'open' ? 'good' : 'none'}>
        {t(`connections.states.${ended === null ? state : 'closed'}`)}
      </Badge>,
    ],
    [t('connections.started'), formatTime(connection.start)],
    [t('connections.age'), formatDuration(connection.duration_ms)],
    ...(ended === null ? [] : [[t('connections.ended'), formatTime(ended)] as const]),
    [t('words.bytes'), t('words.downUp', { down: formatBytes(download), up: formatBytes(upload) })],
    ...(ended === null
      ? [[t('connections.speed'), t('words.downUp', { down: formatRate(down), up: formatRate(up) })] as const]
      : []),
  ];
}
