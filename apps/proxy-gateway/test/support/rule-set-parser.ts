import { RuleSetParser } from '../../src/rule-sets/rule-set-parser.js';

/** Its thread is that of the last build. */
export function testRuleSetParser(): RuleSetParser {
  return new RuleSetParser(new URL('../../bundle/rule-sets/rule-set-thread.js', import.meta.url));
}
