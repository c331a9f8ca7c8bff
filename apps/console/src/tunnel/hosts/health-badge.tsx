import type { HostTargetView, HostView } from '@gatehouse/contracts';
import { Badge } from '../../shared/components/page.js';
import { t } from '../messages/index.js';

/** How many targets are down, and why; nothing where all are up or none is checked. */
export function HealthBadge({ host: { targets } }: { host: HostView }) {
  const down = targets.filter(({ state }) => state === 'down');
  if (down.length === 0) return null;
  return (
    <Badge tone={down.length === targets.length ? 'bad' : 'fair'} title={down.map(lineOf).join('\n')}>
      {t('hosts.health.down', { count: down.length, all: targets.length })}
    </Badge>
  );
}

function lineOf({ target, reason, status, edge }: HostTargetView): string {
  const why = reason === 'status' ? t('hosts.health.reasons.status', { status: status ?? '' }) : reasonOf(reason);
  return `${target}${edge === null ? '' : ` (${edge})`}: ${why}`;
}

function reasonOf(reason: Exclude<HostTargetView['reason'], 'status'>): string {
  return t(`hosts.health.reasons.${reason ?? 'other'}`);
}
