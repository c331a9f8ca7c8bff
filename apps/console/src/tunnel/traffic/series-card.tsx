import type { FlowPoint, FlowSeries } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { useApi } from '../../shared/api/api-context.js';
import { Card, Trouble } from '../../shared/components/page.js';
import { Segments } from '../../shared/components/segments.js';
import { Tile } from '../../shared/components/tile.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { FlowChart, pointsWithin, SPANS, useSpan } from '../parts/flow-chart.js';
import type { Counted } from './traffic-choice.js';

interface SeriesCardProps extends PageProps {
  counted: Counted;
  /** What follows. It waits for the chart, which would push it away. */
  children: ComponentChildren;
}

/** One series, as long as its kind of bucket is usually looked at. */
export function SeriesCard({ counted, query, children }: SeriesCardProps) {
  const api = useApi();
  const [span, setSpan] = useSpan(query);
  const { data, error, reload } = useResource(
    async (signal) => {
      const series = await api.get<FlowSeries>('/flow-stats/series', { ...counted, bucket: span.bucket }, signal);
      return { points: pointsWithin(span, series.points), span, at: new Date().toISOString() };
    },
    [counted.resource_type, counted.resource_id, span],
    { everyMs: 10_000 },
  );
  return (
    <>
      <Card
        title={t('traffic.title')}
        actions={<Segments label={t('flow.span')} choices={SPANS} current={span.id} onChange={setSpan} />}
      >
        <Trouble error={error} retry={reload} waits={data === undefined} />
        {data && (
          <>
            <FlowChart points={data.points} span={data.span} at={data.at} />
            <Sums points={data.points} />
          </>
        )}
      </Card>
      {(data || error) && children}
    </>
  );
}

function Sums({ points }: { points: readonly FlowPoint[] }) {
  const sum = (of: 'inlet_bytes' | 'export_bytes' | 'connections'): number =>
    points.reduce((total, point) => total + point[of], 0);
  return (
    <dl class="tiles within">
      <Tile name={t('words.fromVisitors')} value={formatBytes(sum('inlet_bytes'))} />
      <Tile name={t('words.toVisitors')} value={formatBytes(sum('export_bytes'))} />
      <Tile name={t('words.connectionsRequests')} value={formatCount(sum('connections'))} />
    </dl>
  );
}
