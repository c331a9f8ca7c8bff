export * from './interfaces/index.js';
export { BUILT_IN_POLICIES, createPolicyTable, type SelectablePolicyTable } from './group/index.js';
export {
  LAN_PREFIXES,
  LazyAutomaton,
  RULE_TYPES,
  compileRouter,
  compileRuleSets,
  findShadowedInSlices,
  lookupOfSet,
  formatRuleLine,
  parseRuleLine,
  validateRule,
  type AutomatonStep,
  type RuleDefinition,
} from './route/index.js';
export { createFakeIpPool, createResolver, createSystemResolver } from './dns/index.js';
export {
  GeoDatabaseError,
  openAsnDatabase,
  openCountryDatabase,
  type AsnDatabase,
  type CountryDatabase,
} from '@gatehouse/geo';
export { openGeositeFile, type GeositeFile } from './geo/geosite.js';
export { RuleSetFileError, parseRuleSet } from './rule-set-file/index.js';
export { countChanges } from './generation.js';
export { createProxyKernel } from './kernel.js';
export { supportsNode } from './registry.js';
export { WishError, readLogin, userOfLogin } from './users/index.js';
export { ShadowsocksStream, aeadSession, type ShadowsocksKeys } from './protocol/shadowsocks/stream.js';
export { aeadMethod, masterKey } from './protocol/shadowsocks/cipher.js';
export { PUBLIC_TARGETS_ONLY } from './protocol/http/codec.js';
export { decodeAddress } from './protocol/socks/codec.js';
export { createNodeProber } from './node-prober.js';
export { measureAll, slideOver } from './probe/index.js';
