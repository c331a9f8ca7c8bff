/** The next round number at or above: 1, 2 or 5 times a power of 1024 or, within one, of two. */
export function niceMaximum(value: number): number {
  if (!(value > 0)) return 1024;
  const unit = 1024 ** Math.floor(Math.log(value) / Math.log(1024));
  const steps = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512, 640, 800];
  const step = steps.find((candidate) => candidate * unit >= value) ?? 1024;
  return step * unit;
}

export interface RatePoint {
  time: number;
  up: number;
  down: number;
}

/**
 * Bytes of intervals as bytes per second. The interval that still runs counts by the part of it that has passed, and not
 * at all while that is too short to say anything.
 */
export function ratesOf(
  points: readonly { t: string; up: number; down: number }[],
  stepSec: number,
  now: number,
): RatePoint[] {
  return points.flatMap(({ t, up, down }) => {
    const time = Date.parse(t);
    const seconds = Math.min(stepSec, (now - time) / 1_000);
    if (seconds < stepSec && (stepSec === 1 || seconds < stepSec / 20)) return [];
    return [{ time, up: up / seconds, down: down / seconds }];
  });
}

export interface Size {
  width: number;
  height: number;
}

/** Points of a line from left to right; a single value is a line too. */
export function linePoints(values: readonly number[], maximum: number, { width, height }: Size): [number, number][] {
  const last = Math.max(1, values.length - 1);
  const points = values.map((value, index): [number, number] => [
    (index / last) * width,
    height - (Math.min(value, maximum) / maximum) * height,
  ]);
  return points.length === 1 ? [points[0]!, [width, points[0]![1]]] : points;
}

export function linePath(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
}

/** The line, closed along the bottom. */
export function areaPath(points: readonly (readonly [number, number])[], height: number): string {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return '';
  return `${linePath(points)}L${round(last[0])} ${round(height)}L${round(first[0])} ${round(height)}Z`;
}

/** Index of the point nearest to a place between 0 and `width`. */
export function nearestIndex(x: number, width: number, count: number): number {
  if (count <= 1 || width <= 0) return 0;
  return Math.min(count - 1, Math.max(0, Math.round((x / width) * (count - 1))));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
