import type { Page } from 'playwright-core';
import * as screens from '../../tools/src/screens/inspect-page.js';

/** What axe finds on the page that is open, minor findings left out: the rule, how grave it is, and the first element. */
export async function axeFindings(page: Page): Promise<string[]> {
  // A colour on its way to another would be measured in between.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  return screens.axeFindings(page);
}
