import type { DashboardSeriesPoint } from '@gatehouse/contracts';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatRate } from '../format/amounts.js';
import { formatTick } from '../format/times.js';
import { areaPath, linePath, linePoints, nearestIndex, niceMaximum, ratesOf, type RatePoint } from './scale.js';
import { t } from '../messages/index.js';

interface TrafficChartProps {
  series: readonly DashboardSeriesPoint[];
  /** How long one point is. */
  stepSec: number;
  /** When the figures were taken. */
  at: string;
  label: string;
  /** What the two ways are called. */
  names?: { down: string; up: string };
}

const HEIGHT = 190;
const LEFT = 74;
const BOTTOM = 22;
const TOP = 8;
const LINES = 4;

/** Bytes per second over time: what came down as an area, what went up as a line. */
export function TrafficChart({
  series,
  stepSec,
  at,
  label,
  names = { down: t('chart.down'), up: t('chart.up') },
}: TrafficChartProps) {
  const { box, width } = useWidth();
  const [focus, setFocus] = useState<number | null>(null);
  const size = { width: Math.max(50, width - LEFT - 12), height: HEIGHT - BOTTOM - TOP };
  const points = ratesOf(series, stepSec, Date.parse(at));
  const down = points.map((point) => point.down);
  const up = points.map((point) => point.up);
  const maximum = niceMaximum(Math.max(0, ...down, ...up));
  const downPoints = linePoints(down, maximum, size);
  const point = focus === null ? undefined : points[focus];
  const follow = (event: PointerEvent & { currentTarget: Element }): void => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT;
    setFocus(points.length === 0 ? null : nearestIndex(x, size.width, points.length));
  };
  return (
    <figure class="chart" ref={box}>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={t('chart.peak', {
          label,
          down: formatRate(Math.max(0, ...down)),
          downName: names.down,
          up: formatRate(Math.max(0, ...up)),
          upName: names.up,
        })}
        onPointerMove={follow}
        onPointerLeave={() => setFocus(null)}
      >
        <g transform={`translate(${LEFT} ${TOP})`}>
          <Grid maximum={maximum} size={size} />
          <Times points={points} stepSec={stepSec} size={size} />
          <path class="area down" d={areaPath(downPoints, size.height)} />
          <path class="line down" d={linePath(downPoints)} />
          <path class="line up" d={linePath(linePoints(up, maximum, size))} />
          {focus !== null && point && <Cursor x={downPoints[focus]?.[0] ?? 0} height={size.height} />}
        </g>
      </svg>
      <figcaption>
        <span class="key down">
          {names.down} {formatRate(point ? point.down : down.at(-1))}
        </span>
        <span class="key up">
          {names.up} {formatRate(point ? point.up : up.at(-1))}
        </span>
        <span class="muted">{point ? formatTick(point.time, stepSec * 1000) : t('chart.latest')}</span>
      </figcaption>
    </figure>
  );
}

interface Plot {
  size: { width: number; height: number };
}

function Grid({ maximum, size: { width, height } }: Plot & { maximum: number }) {
  return (
    <g class="grid">
      {Array.from({ length: LINES + 1 }, (_, index) => {
        const y = height - (index / LINES) * height;
        return (
          <g key={index}>
            <line x1={0} x2={width} y1={y} y2={y} />
            <text x={-8} y={y + 4} text-anchor="end">
              {formatRate((index / LINES) * maximum)}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function Times({ points, stepSec, size: { width, height } }: Plot & { points: readonly RatePoint[]; stepSec: number }) {
  const count = Math.max(2, Math.min(6, Math.floor(width / 110)));
  if (points.length < 2) return null;
  return (
    <g class="grid">
      {Array.from({ length: count }, (_, index) => {
        const place = Math.round((index / (count - 1)) * (points.length - 1));
        const anchor = index === 0 ? 'start' : index === count - 1 ? 'end' : 'middle';
        return (
          <text key={index} x={(place / (points.length - 1)) * width} y={height + 17} text-anchor={anchor}>
            {formatTick(points[place]!.time, stepSec * 1000)}
          </text>
        );
      })}
    </g>
  );
}

function Cursor({ x, height }: { x: number; height: number }) {
  return <line class="cursor" x1={x} x2={x} y1={0} y2={height} />;
}

/** The width that the page gives the chart, followed while the window changes. */
function useWidth() {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}
