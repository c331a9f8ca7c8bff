export { toClashEntry } from './clash/to-entry.js';
export { FormatError, type FormatErrorCode } from './errors.js';
export { fingerprintNode } from './fingerprint.js';
export { formatLink, parseLink } from './links/registry.js';
export { parseSubscription } from './parse-subscription.js';
export type { ParseOptions } from './parse-subscription.js';
export type {
  DuplicateEntry,
  ParsedEntry,
  ParsedSubscription,
  SkippedEntry,
  SubscriptionFormat,
  SubscriptionInfo,
} from './parsed.js';
export { emptyProfile } from './profile/profile.js';
export type {
  DroppedItem,
  NameFilter,
  NameTest,
  Profile,
  ProfileGroup,
  ProfileProxyProvider,
  ProfileRemark,
  ProfileRuleProvider,
} from './profile/profile.js';
export { parseProfile } from './profile/read-profile.js';
export { parseRawConfig } from './raw-config.js';
export { writeOwnTemplate, writeTarget } from './targets/write-target.js';
export type { NamedNode, OwnTemplate } from './targets/own-template.js';
export { readTemplate } from './templates/read-template.js';
export { TemplateFailure, type CompileFilter } from './templates/template.js';
export { BUILT_IN_TARGETS } from './targets/target.js';
export type {
  TargetDocument,
  TargetGroup,
  TargetInput,
  TargetNode,
  TargetRule,
  TargetRuleSet,
} from './targets/target.js';
export { MIHOMO_TRANSPORTS } from './targets/clash-node.js';
export { formatClashDocument, formatNodeLine } from './write-nodes.js';
export { parseProfileHeaders, parseUserinfo } from './response-headers.js';
export type { HeaderSource, SubscriptionProfile, SubscriptionUserinfo } from './response-headers.js';
