export { compileRouter, type RouterOptions } from './compile-router.js';
export { formatRuleLine, parseRuleLine, validateRule, type RuleDefinition } from './rule-line.js';
export { RULE_TYPES } from './rule/create-matcher.js';
