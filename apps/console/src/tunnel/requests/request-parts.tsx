import type { HostRequestView } from '@gatehouse/contracts';
import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { t } from '../messages/index.js';

/** Status of the answer, and why it is not what the visitor wanted. */
export function StatusBadge({ request }: { request: HostRequestView }) {
  const { status, error, failure, ended_ms: ended } = request;
  if (status === null && ended === null) return <Badge tone="info">{t('requests.running')}</Badge>;
  return (
    <>
      <Badge tone={toneOf(request)}>{status === null ? t('requests.noAnswer') : String(status)}</Badge>
      {ended === null && <span class="second">{t('requests.running')}</span>}
      {(error ?? failure) !== null && <code class="second">{error ?? failure}</code>}
    </>
  );
}

function toneOf({ status, failure }: HostRequestView): BadgeTone {
  if (status === null || status >= 500 || failure !== null) return 'bad';
  if (status >= 400) return 'fair';
  return status >= 300 ? 'info' : 'good';
}

/** Milliseconds, as short as they are useful. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
