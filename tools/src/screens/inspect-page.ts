import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { apiNames, englishLeft, LABELS, WORDS } from './english-left.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** More than this moves what people are about to click (web.dev: cumulative layout shift, "good" is 0.1). */
const MOST_SHIFT = 0.05;

/** For the page: how much wider than the screen or its dialog it is, and how far its parts moved without input. */
const MEASURE = `new Promise((resolve) => {
  const shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: 'layout-shift', buffered: true });
  const excess = (element) => element.scrollWidth - element.clientWidth;
  const dialogs = [...document.querySelectorAll('dialog[open], dialog[open] .dialog-body')];
  // Entries from before come to the observer in a task of their own.
  setTimeout(() => resolve({
    overflow: document.documentElement.scrollWidth - innerWidth,
    dialogOverflow: Math.max(0, ...dialogs.map(excess)),
    shift: shifts.filter(({ hadRecentInput }) => !hadRecentInput).reduce((sum, { value }) => sum + value, 0),
  }), 50);
})`;

interface Measures {
  overflow: number;
  dialogOverflow: number;
  shift: number;
}

interface AxeViolation {
  id: string;
  impact: string | null;
  nodes: { target: string[] }[];
}

/** What axe finds on the page that is open, minor findings left out: the rule, how grave it is, and the first element. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate<AxeViolation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, impact, nodes }) => `${id} (${impact ?? 'unknown'}): ${nodes[0]?.target.join(' ') ?? ''}`);
}

/**
 * What is wrong with the page that is open: its width, its layout shifts, what axe finds, and in `zh-CN` what is still in
 * English. Empty: nothing.
 */
export async function inspectPage(page: Page, language: 'en' | 'zh-CN'): Promise<string[]> {
  const { overflow, dialogOverflow, shift } = await page.evaluate<Measures>(MEASURE);
  const english = language === 'en' ? [] : englishLeft(await textsOf(page, LABELS));
  return [
    ...(overflow > 0 ? [`is ${overflow} px wider than the screen`] : []),
    ...(dialogOverflow > 0 ? [`is ${dialogOverflow} px wider than its dialog`] : []),
    ...(shift > MOST_SHIFT ? [`moves while it loads: layout shift ${shift.toFixed(3)}`] : []),
    ...english.map((text) => `is in English: ${text.slice(0, 80)}`),
    ...apiNames(await textsOf(page, WORDS)).map((name) => `shows a name of the API: ${name}`),
    ...(await axeFindings(page)),
  ];
}

function textsOf(page: Page, selector: string): Promise<string[]> {
  return page.evaluate<string[]>(
    // What says that it is in another language than its page is no label of ours.
    `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((one) => !one.closest('main [lang]'))
      .map((one) => one.innerText ?? '').filter((text) => text !== '')`,
  );
}
