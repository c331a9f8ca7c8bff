import type { TunnelWarning } from '@gatehouse/contracts';
import { Badge } from '../../shared/components/page.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';

/** The page where it can be fixed. */
const PLACES: Record<TunnelWarning['code'], string | null> = {
  certificate_expiring: 'certificates',
  certificate_expired: 'certificates',
  certificate_failed: 'certificates',
  client_expiring: 'clients',
  client_expired: 'clients',
  tunnel_failed: 'tunnels',
  tunnel_open_proxy: 'tunnels',
  edge_unavailable: null,
  country_rules_without_database: 'rules',
  asn_rules_without_database: 'rules',
  list_rules_without_list: 'rules',
  webhook_failing: 'webhooks',
};

const GRAVE: ReadonlySet<TunnelWarning['code']> = new Set([
  'certificate_expired',
  'certificate_failed',
  'client_expired',
  'tunnel_failed',
  'edge_unavailable',
  'webhook_failing',
]);

/** Problems that need attention. */
export function Warnings({ warnings }: { warnings: readonly TunnelWarning[] }) {
  if (warnings.length === 0) return null;
  return (
    <section class="card" aria-label={t('dashboard.warnings')}>
      <ul class="warnings">
        {warnings.map((warning) => (
          <Warning key={`${warning.code} ${warning.resource?.kind} ${warning.resource?.id}`} warning={warning} />
        ))}
      </ul>
    </section>
  );
}

function Warning({ warning: { code, message, since } }: { warning: TunnelWarning }) {
  const place = PLACES[code];
  const isGrave = GRAVE.has(code);
  return (
    <li>
      <Badge tone={isGrave ? 'bad' : 'fair'}>
        {t(`dashboard.warningLevels.${isGrave ? 'broken' : code === 'tunnel_open_proxy' ? 'open' : 'soon'}`)}
      </Badge>
      <span>{message}</span>
      {since !== null && (
        <span class="muted" title={formatTime(since)}>
          {formatRelative(since)}
        </span>
      )}
      {place !== null && <a href={hrefTo(place)}>{t('dashboard.show')}</a>}
    </li>
  );
}
