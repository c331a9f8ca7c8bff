import type { DashboardResponse } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Page, Trouble } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { LiveDomains, LiveNodes, LiveUsers } from './live-lists.js';
import { FIRST_PAGES, type PageSizes } from './pages.js';
import { findPeriod, PERIODS, PeriodChoice, periodQuery } from './period.js';
import { PeriodDomains, PeriodNodes, PeriodUsers } from './period-lists.js';
import { Tiles } from './tiles.js';
import { TrafficCard } from './traffic-card.js';

const REFRESH_MS = 2_000;

/** What goes on now, and what went on in a period. */
export function DashboardPage({ query }: PageProps) {
  const api = useApi();
  const [pages, setPages] = useState<PageSizes>(FIRST_PAGES);
  const [filter, change] = useAddressFilter<{ period: string }>(query, { period: PERIODS[0].id });
  const period = findPeriod(filter.period);
  const { data, error, reload } = useResource(
    (signal) => api.get<DashboardResponse>('/dashboard', { ...pages, ...periodQuery(period, Date.now()) }, signal),
    [pages, period],
    { everyMs: REFRESH_MS },
  );
  // The lists of users are shown only if somebody logs in to the proxy.
  const hasUsers = data !== undefined && data.live_users.total + data.period_users.total > 0;
  const turn = (changes: Partial<PageSizes>): void => setPages((before) => ({ ...before, ...changes }));
  return (
    <Page title={t('nav.dashboard')}>
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data && (
        <>
          <Tiles data={data} />
          <TrafficCard traffic={data.traffic} at={data.generated_at} />
          <div class="columns">
            <LiveDomains page={data.live_domains} turn={turn} />
            <LiveNodes page={data.live_nodes} turn={turn} />
            {hasUsers && <LiveUsers page={data.live_users} turn={turn} />}
          </div>
          <PeriodChoice
            period={period}
            from={data.period.from}
            to={data.period.to}
            onChange={(next) => {
              change({ period: next });
              turn({ period_domain_offset: 0, period_node_offset: 0, period_user_offset: 0 });
            }}
          />
          <div class="columns">
            <PeriodDomains page={data.period_domains} turn={turn} />
            <PeriodNodes page={data.period_nodes} turn={turn} />
            {hasUsers && <PeriodUsers page={data.period_users} turn={turn} />}
          </div>
        </>
      )}
    </Page>
  );
}
