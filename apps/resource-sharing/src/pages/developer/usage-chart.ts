import type { Visitor } from '../../wire/visitor.js';
import { Html, markup } from '../parts/markup.js';

export interface ChartDay {
  /** For example 2026-11-21. */
  readonly date: string;
  readonly total: number;
  readonly ok: number;
}

const HEIGHT = 120;
/** Width of a day, including the space next to its bar. */
const STEP = 20;
const BAR = 16;

/** Calls per day, each bar divided by result. A table has the same numbers for screen readers. */
export function dayChart({ words }: Visitor, days: readonly ChartDay[]): Html {
  const most = Math.max(1, ...days.map(({ total }) => total));
  const bars = days.map(({ date, total, ok }, index) => {
    const [good, bad] = heights(ok, total, most);
    const x = index * STEP + (STEP - BAR) / 2;
    return markup`<g><title>${words.text('usage.ofDay', { date, count: total, failed: total - ok })}</title>
<rect class="space" x="${index * STEP}" y="0" width="${STEP}" height="${HEIGHT}"/>
<rect class="ok" x="${x}" y="${HEIGHT - good}" width="${BAR}" height="${good}"/>
<rect class="failed" x="${x}" y="${HEIGHT - good - bad}" width="${BAR}" height="${bad}"/></g>`;
  });
  const width = days.length * STEP;
  const lines = [0, HEIGHT / 2, HEIGHT].map((y) => markup`<line x1="0" x2="${width}" y1="${y}" y2="${y}"/>`);
  return markup`<figure class="usage-chart" aria-hidden="true">
<p class="scale">${words.text('usage.most', { count: most })}</p>
<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" height="${HEIGHT}" focusable="false"><g class="grid">${lines}</g>${bars}</svg>
<p class="scale"><span>${days[0]?.date}</span><span>${days.at(-1)?.date}</span></p>
<figcaption><span class="ok">${words.text('usage.succeeded')}</span><span class="failed">${words.text('developer.failed')}</span></figcaption>
</figure>`;
}

/** The calls of one operation in proportion to the most frequent one, divided by result. */
export function shareBar(ok: number, total: number, most: number): Html {
  const good = (ok / Math.max(1, most)) * 100;
  const bad = ((total - ok) / Math.max(1, most)) * 100;
  return markup`<svg class="share-bar" viewBox="0 0 100 8" preserveAspectRatio="none" width="100" height="8" aria-hidden="true" focusable="false">
<rect class="ok" x="0" y="0" width="${round(good)}" height="8"/><rect class="failed" x="${round(good)}" y="0" width="${round(bad)}" height="8"/></svg>`;
}

/** Heights of successes and failures, in pixels: every call is visible. */
function heights(ok: number, total: number, most: number): [number, number] {
  const of = (count: number): number => (count === 0 ? 0 : Math.max(1, round((count / most) * (HEIGHT - 2))));
  return [of(ok), of(total - ok)];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
