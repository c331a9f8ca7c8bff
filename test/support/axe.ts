import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds on the page that is open, minor findings left out: the rule, how grave it is, and the first element. */
export async function axeFindings(page: Page): Promise<string[]> {
  // A colour on its way to another would be measured in between.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(AXE);
  const violations = await page.evaluate<{ id: string; impact: string; nodes: { target: string[] }[] }[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]?.target.join(' ') ?? ''}`);
}
