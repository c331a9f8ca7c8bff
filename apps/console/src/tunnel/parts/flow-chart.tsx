import type { FlowPoint, FlowSeries } from '@gatehouse/contracts';
import { TrafficChart } from '../../shared/chart/traffic-chart.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { t } from '../messages/index.js';

export interface Span {
  id: string;
  label: string;
  bucket: FlowSeries['bucket'];
  stepSec: number;
  /** How many of the newest points; all where nothing is said. */
  points?: number;
}

export const SPANS: readonly [Span, ...Span[]] = [
  { id: 'hour', label: t('flow.spans.hour'), bucket: 'minute', stepSec: 60, points: 60 },
  { id: 'day', label: t('flow.spans.day'), bucket: 'minute', stepSec: 60 },
  { id: 'month', label: t('flow.spans.month'), bucket: 'hour', stepSec: 3_600 },
  { id: 'year', label: t('flow.spans.year'), bucket: 'day', stepSec: 86_400 },
];

/** The span that a page's address names, or the shortest; and what names another one there. */
export function useSpan(query: PageProps['query']): [Span, (span: Span) => void] {
  const [{ span: name }, change] = useAddressFilter(query, { span: SPANS[0].id });
  return [SPANS.find(({ id }) => id === name) ?? SPANS[0], ({ id }) => change({ span: id })];
}

/** The part of a series that a span is about. */
export function pointsWithin(span: Span, points: readonly FlowPoint[]): readonly FlowPoint[] {
  return span.points === undefined ? points : points.slice(-span.points);
}

const NAMES = { down: t('flow.toVisitors'), up: t('flow.fromVisitors') };

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
      label={t('flow.chart', { span: span.label })}
      names={NAMES}
    />
  );
}
