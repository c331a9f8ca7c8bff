import { Page, Tabs } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { t } from '../messages/index.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import { FlowTotals } from './flow-totals.js';
import { SeriesCard } from './series-card.js';
import { TrafficChoice, type Counted } from './traffic-choice.js';
import { VisitorAddresses } from './visitor-addresses.js';

const NO_CHOICE = { resource_type: '', resource_id: '' };

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
  const [choice, change] = useAddressFilter(query, NO_CHOICE);
  const counted = readCounted(choice) ?? everything;
  const view = query['view'] === 'totals' ? 'totals' : 'series';
  return (
    <Page title={t('nav.traffic')}>
      <Tabs label={t('traffic.views')} tabs={TABS} current={view} hrefOf={(id) => hrefTo('traffic', { view: id })} />
      {view === 'totals' ? (
        <FlowTotals query={query} />
      ) : (
        <>
          <TrafficChoice
            counted={counted}
            everything={everything}
            onChange={(next) => change(next === everything ? NO_CHOICE : { ...next })}
          />
          {counted.resource_id !== '' && (
            <SeriesCard counted={counted} query={query}>
              <VisitorAddresses counted={counted} />
            </SeriesCard>
          )}
        </>
      )}
    </Page>
  );
}

/** Null: everything. An empty id: one that is still to be chosen. */
function readCounted({ resource_type: kind, resource_id: id }: typeof NO_CHOICE): Counted | null {
  if (kind !== 'client' && kind !== 'tunnel' && kind !== 'host') return null;
  return /^\d*$/.test(id) ? { resource_type: kind, resource_id: id } : null;
}
