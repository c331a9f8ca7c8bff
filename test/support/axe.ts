import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** All that another colour scheme can change: pages choose colours by it, and nothing else. */
export const COLOURS_ONLY = ['color-contrast'];

/**
 * What axe finds on the page that is open, minor findings left out: the rule, how grave it is, and the first element.
 *
 * @param rules the only ones to look at; by default all
 */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // A colour on its way to another would be measured in between.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  // It stays on a page that changes without being loaded again.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const violations = await page.evaluate<{ id: string; impact: string; nodes: { target: string[] }[] }[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]?.target.join(' ') ?? ''}`);
}
