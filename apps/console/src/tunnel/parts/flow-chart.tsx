import type { FlowPoint, FlowSeries } from '@gatehouse/contracts';
import { TrafficChart } from '../../shared/chart/traffic-chart.js';

export interface Span {
  id: string;
  label: string;
  bucket: FlowSeries['bucket'];
  stepSec: number;
  /** How many of the newest points; all where nothing is said. */
  points?: number;
}

export const SPANS: readonly [Span, ...Span[]] = [
  { id: 'hour', label: 'Hour', bucket: 'minute', stepSec: 60, points: 60 },
  { id: 'day', label: 'Day', bucket: 'minute', stepSec: 60 },
  { id: 'month', label: 'Month', bucket: 'hour', stepSec: 3_600 },
  { id: 'year', label: 'Year', bucket: 'day', stepSec: 86_400 },
];

/** The part of a series that a span is about. */
export function pointsWithin(span: Span, points: readonly FlowPoint[]): readonly FlowPoint[] {
  return span.points === undefined ? points : points.slice(-span.points);
}

const NAMES = { down: 'to visitors', up: 'from visitors' };

interface FlowChartProps {
  points: readonly FlowPoint[];
  span: Span;
  /** When the figures were taken. */
  at: string;
}

/** What was carried over time. */
export function FlowChart({ points, span, at }: FlowChartProps) {
  const series = pointsWithin(span, points).map((point) => ({
    t: point.at,
    up: point.inlet_bytes,
    down: point.export_bytes,
  }));
  return (
    <TrafficChart
      series={series}
      stepSec={span.stepSec}
      at={at}
      label={`Traffic, last ${span.label.toLowerCase()}`}
      names={NAMES}
    />
  );
}
