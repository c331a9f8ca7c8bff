import { useState } from 'preact/hooks';
import { Page, Tabs } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import { FlowTotals } from './flow-totals.js';
import { SeriesCard } from './series-card.js';
import { TrafficChoice, type Counted } from './traffic-choice.js';
import { VisitorAddresses } from './visitor-addresses.js';

const TABS = [
  { id: 'series', label: t('traffic.series') },
  { id: 'totals', label: t('traffic.totals') },
];

/** What was carried, over time and in all, and for whom. */
export function TrafficPage({ query }: PageProps) {
  const isAdministrator = useIsAdministrator();
  const me = useUser();
  const everything: Counted = isAdministrator
    ? { resource_type: 'global', resource_id: '0' }
    : { resource_type: 'user', resource_id: String(me.id) };
  const named = readCounted(query);
  const [counted, setCounted] = useState<Counted>(named ?? everything);
  const view = query['view'] === 'totals' ? 'totals' : 'series';
  return (
    <Page title={t('nav.traffic')}>
      <Tabs label={t('traffic.views')} tabs={TABS} current={view} hrefOf={(id) => hrefTo('traffic', { view: id })} />
      {view === 'totals' ? (
        <FlowTotals />
      ) : (
        <>
          <TrafficChoice counted={counted} everything={everything} onChange={setCounted} />
          {counted.resource_id !== '' && (
            <SeriesCard counted={counted}>
              <VisitorAddresses counted={counted} />
            </SeriesCard>
          )}
        </>
      )}
    </Page>
  );
}

function readCounted({ resource_type: kind, resource_id: id = '' }: PageProps['query']): Counted | null {
  if (kind !== 'client' && kind !== 'tunnel' && kind !== 'host') return null;
  return /^\d+$/.test(id) ? { resource_type: kind, resource_id: id } : null;
}
