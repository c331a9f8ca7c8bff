export * from './interfaces/index.js';
export { BUILT_IN_POLICIES, createPolicyTable, type SelectablePolicyTable } from './group/index.js';
export {
  LazyAutomaton,
  RULE_TYPES,
  compileRouter,
  compileRuleSets,
  findShadowed,
  findShadowedInSlices,
  formatRuleLine,
  parseRuleLine,
  validateRule,
  validateRuleSetEntry,
  type AutomatonCredit,
  type AutomatonStep,
  type CompiledRuleSets,
  type RouterOptions,
  type RuleDefinition,
  type ShadowOptions,
  type ShadowRule,
} from './route/index.js';
export {
  createFakeIpPool,
  createResolver,
  createSystemResolver,
  type FakeIpPool,
  type ResolverOptions,
  type SystemResolver,
  type SystemResolverOptions,
} from './dns/index.js';
export {
  GeoDatabaseError,
  openAsnDatabase,
  openCountryDatabase,
  openGeositeFile,
  type AsnDatabase,
  type AutonomousSystem,
  type CountryDatabase,
  type GeoDatabaseMetadata,
  type GeositeFile,
} from './geo/index.js';
export {
  RULE_SET_FORMATS,
  RuleSetFileError,
  parseRuleSet,
  type ParseRuleSetOptions,
  type ParsedRuleSet,
  type RuleSetFormat,
  type RuleSetLineError,
} from './rule-set-file/index.js';
export { countChanges } from './generation.js';
export { createProxyKernel } from './kernel.js';
export { findDialCycle } from './dialers.js';
export type { NodeSupport } from './protocol/node-protocol.js';
export { supportsNode } from './registry.js';
export { ShadowsocksStream, aeadSession, type ShadowsocksKeys } from './protocol/shadowsocks/stream.js';
export { aeadMethod, masterKey } from './protocol/shadowsocks/cipher.js';
export { PUBLIC_TARGETS_ONLY } from './protocol/http/codec.js';
export { decodeAddress } from './protocol/socks/codec.js';
export { createNodeProber, type NodeProberOptions } from './node-prober.js';
export {
  measureAll,
  parseExpectedStatus,
  slideOver,
  type MeasureAllOptions,
  type SlidingWindowOptions,
} from './probe/index.js';
