import type { DashboardTraffic } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { TrafficChart } from '../../shared/chart/traffic-chart.js';
import { Card } from '../../shared/components/page.js';
import { Segments } from '../../shared/components/segments.js';
import { t } from '../messages/index.js';

const SPANS = [
  { id: 'seconds', label: t('dashboard.spans.seconds'), stepSec: 1 },
  { id: 'minutes', label: t('dashboard.spans.minutes'), stepSec: 60 },
  { id: 'series', label: t('dashboard.spans.series'), stepSec: 3_600 },
] as const;

export function TrafficCard({ traffic, at }: { traffic: DashboardTraffic; at: string }) {
  const [span, setSpan] = useState<(typeof SPANS)[number]>(SPANS[0]);
  return (
    <Card
      title={t('dashboard.traffic')}
      actions={<Segments label={t('dashboard.span')} choices={SPANS} current={span.id} onChange={setSpan} />}
    >
      <TrafficChart
        series={traffic[span.id]}
        at={at}
        stepSec={span.stepSec}
        label={t('dashboard.chart', { span: span.label })}
      />
    </Card>
  );
}
