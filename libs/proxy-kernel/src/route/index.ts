export { compileRouter, type RouterOptions } from './compile-router.js';
export { formatRuleLine, parseRuleLine, validateRule, type RuleDefinition } from './rule-line.js';
export { RULE_TYPES } from './rule/rule-type.js';
export { LazyAutomaton, type AutomatonCredit, type AutomatonStep } from './rule/lazy-automaton.js';
export { compileRuleSets, type CompiledRuleSets } from './rule-set/rule-sets.js';
export { validateRuleSetEntry } from './rule-set/compile-entries.js';
export { findShadowed, findShadowedInSlices, type ShadowOptions, type ShadowRule } from './find-shadowed.js';
