import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** More than this moves what people are about to click (web.dev: cumulative layout shift, "good" is 0.1). */
const MOST_SHIFT = 0.05;

/** For the page: how much wider than the screen it is, and how far its parts moved without input. */
const MEASURE = `new Promise((resolve) => {
  const shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: 'layout-shift', buffered: true });
  // Entries from before come to the observer in a task of their own.
  setTimeout(() => resolve({
    overflow: document.documentElement.scrollWidth - innerWidth,
    shift: shifts.filter(({ hadRecentInput }) => !hadRecentInput).reduce((sum, { value }) => sum + value, 0),
  }), 50);
})`;

interface AxeViolation {
  id: string;
  impact: string | null;
  nodes: { target: string[] }[];
}

/** What is wrong with the page that is open: its width, its layout shifts, what axe finds. Empty: nothing. */
export async function inspectPage(page: Page): Promise<string[]> {
  const { overflow, shift } = await page.evaluate<{ overflow: number; shift: number }>(MEASURE);
  await page.evaluate(AXE);
  const violations = await page.evaluate<AxeViolation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return [
    ...(overflow > 0 ? [`is ${overflow} px wider than the screen`] : []),
    ...(shift > MOST_SHIFT ? [`moves while it loads: layout shift ${shift.toFixed(3)}`] : []),
    ...violations
      .filter(({ impact }) => impact !== 'minor')
      .map(({ id, impact, nodes }) => `${id} (${impact ?? 'unknown'}): ${nodes[0]?.target.join(' ') ?? ''}`),
  ];
}
