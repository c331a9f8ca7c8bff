import { RuleSetParser } from '../../src/rule-sets/rule-set-parser.js';

/** Runs its thread from source, so that no build is needed. */
export function testRuleSetParser(): RuleSetParser {
  return new RuleSetParser(new URL('../../src/rule-sets/rule-set-thread.ts', import.meta.url), [
    '--conditions=development',
    '--no-warnings',
    `--import=${new URL('./typescript-sources.mjs', import.meta.url).href}`,
  ]);
}
