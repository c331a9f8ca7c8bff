export { compileRouter } from './compile-router.js';
export { formatRuleLine, parseRuleLine, validateRule, type RuleDefinition } from './rule-line.js';
export { LAN_PREFIXES } from './rule/geoip.js';
export { LazyAutomaton, type AutomatonStep } from './rule/lazy-automaton.js';
export { compileRuleSets, type CompiledRuleSets } from './rule-set/rule-sets.js';
export { validateRuleSetEntry } from './rule-set/compile-entries.js';
export { lookupOfSet } from './rule-set/lookup.js';
export { findShadowedInSlices } from './find-shadowed.js';
export { RULE_TYPES } from './rule/rule-type.js';
