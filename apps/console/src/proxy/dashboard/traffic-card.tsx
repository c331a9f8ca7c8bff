import type { DashboardTraffic } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { TrafficChart } from '../../shared/chart/traffic-chart.js';
import { Card } from '../../shared/components/page.js';
import { Segments } from '../../shared/components/segments.js';

const SPANS = [
  { id: 'seconds', label: 'Last minute', stepSec: 1 },
  { id: 'minutes', label: 'Last hour', stepSec: 60 },
  { id: 'series', label: 'Period by hours', stepSec: 3_600 },
] as const;

export function TrafficCard({ traffic, at }: { traffic: DashboardTraffic; at: string }) {
  const [span, setSpan] = useState<(typeof SPANS)[number]>(SPANS[0]);
  return (
    <Card title="Traffic" actions={<Segments label="Time span" choices={SPANS} current={span.id} onChange={setSpan} />}>
      <TrafficChart
        series={traffic[span.id]}
        at={at}
        stepSec={span.stepSec}
        label={`Traffic, ${span.label.toLowerCase()}`}
      />
    </Card>
  );
}
