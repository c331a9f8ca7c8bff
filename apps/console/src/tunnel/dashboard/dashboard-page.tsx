import type { TunnelDashboard } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Card, Page, Trouble } from '../../shared/components/page.js';
import { Segments } from '../../shared/components/segments.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useResource } from '../../shared/state/use-resource.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { EventList } from '../events/event-list.js';
import { Empty } from '../parts/empty.js';
import { PublishLink } from '../parts/publish-link.js';
import { FlowChart, SPANS, useSpan } from '../parts/flow-chart.js';
import { useMayWrite } from '../user-context.js';
import { Tiles } from './tiles.js';
import { TopHosts, TopTunnels, TopVisitors } from './top-lists.js';
import { Warnings } from './warnings.js';

const REFRESH_MS = 2_000;
const SHOWN_EVENTS = 8;

/** All that one may see, at a glance. */
export function DashboardPage({ query }: PageProps) {
  const api = useApi();
  const { data, error, reload } = useResource((signal) => api.get<TunnelDashboard>('/dashboard', {}, signal), [], {
    everyMs: REFRESH_MS,
  });
  const mayWrite = useMayWrite();
  return (
    <Page title={t('nav.dashboard')} actions={mayWrite && <PublishLink />}>
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data && (
        <>
          {data.totals.clients.total === 0 && <Beginning />}
          <Warnings warnings={data.warnings} />
          <Tiles data={data} />
          <SeriesChoice data={data} query={query} />
          <div class="columns">
            <TopTunnels rows={data.top_tunnels} />
            <TopHosts rows={data.top_hosts} />
          </div>
          <div class="columns">
            <TopVisitors rows={data.top_visitors} />
            <Card
              title={t('dashboard.recentEvents')}
              actions={<a href={hrefTo('events')}>{t('dashboard.allEvents')}</a>}
            >
              <EventList events={data.recent_events.slice(0, SHOWN_EVENTS)} />
            </Card>
          </div>
        </>
      )}
    </Page>
  );
}

interface SeriesChoiceProps extends PageProps {
  data: TunnelDashboard;
}

function SeriesChoice({ data: { series, generated_at: at }, query }: SeriesChoiceProps) {
  const [span, setSpan] = useSpan(query);
  return (
    <Card
      title={t('words.traffic')}
      actions={<Segments label={t('flow.span')} choices={SPANS} current={span.id} onChange={setSpan} />}
    >
      <FlowChart points={series[span.bucket]} span={span} at={at} />
    </Card>
  );
}

/** Before there is anything to look at. */
function Beginning() {
  const mayWrite = useMayWrite();
  return (
    <section class="card" aria-label={t('dashboard.firstSteps')}>
      <Empty
        action={
          mayWrite && (
            <a class="button primary" href={hrefTo('clients', { new: 1 })}>
              {t('dashboard.firstClient')}
            </a>
          )
        }
      >
        <p>{rich('dashboard.empty', { b: bold })}</p>
      </Empty>
    </section>
  );
}
