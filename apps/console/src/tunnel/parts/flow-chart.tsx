import type { FlowPoint } from '@gatehouse/contracts';
import { TrafficChart } from '../../shared/chart/traffic-chart.js';

export const BUCKETS = [
  { id: 'minute', label: 'Last day', stepSec: 60 },
  { id: 'hour', label: 'Last month', stepSec: 3_600 },
  { id: 'day', label: 'Last year', stepSec: 86_400 },
] as const;
export type BucketChoice = (typeof BUCKETS)[number];

const NAMES = { down: 'to visitors', up: 'from visitors' };

interface FlowChartProps {
  points: readonly FlowPoint[];
  bucket: BucketChoice;
  /** When the figures were taken. */
  at: string;
}

/** What was carried over time. */
export function FlowChart({ points, bucket, at }: FlowChartProps) {
  const series = points.map((point) => ({ t: point.at, up: point.inlet_bytes, down: point.export_bytes }));
  return (
    <TrafficChart
      series={series}
      stepSec={bucket.stepSec}
      at={at}
      label={`Traffic, ${bucket.label.toLowerCase()}`}
      names={NAMES}
    />
  );
}
