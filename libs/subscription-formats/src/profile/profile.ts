import type { ProfileOutcome, ProfileReason, ProfileSection } from '@gatehouse/contracts';

/** What is to be said about an item of a profile. */
export interface ProfileRemark {
  outcome: ProfileOutcome;
  reason: ProfileReason;
}

/** An item that cannot be used at all. */
export interface DroppedItem extends ProfileRemark {
  section: ProfileSection;
  /** Its name or line, as far as it could be read. */
  name: string;
}

/**
 * A condition on a name: every pattern of `all` occurs in it and none of `none` does. Look-ahead of other programs is
 * taken apart into these, so that each pattern can run in linear time.
 */
export interface NameTest {
  all: string[];
  none: string[];
  /** mihomo's patterns distinguish case unless they say `(?i)`. */
  ignoreCase: boolean;
}

/** Which names of a set are taken. */
export interface NameFilter {
  /** In order of preference; empty: every name. */
  include: NameTest[];
  /** A name that one of these fits is not taken. */
  exclude: NameTest[];
  /** Types of nodes that are not taken, in lower case as in a Clash entry. */
  excludeTypes: string[];
  /** False if a pattern cannot be read; then nothing may be taken. */
  readable: boolean;
}

export interface ProfileGroup {
  name: string;
  /** `select`, `url-test`, `fallback`, `load-balance`, `relay`, or a word that is not known here. */
  type: string;
  /** Names of nodes, groups and built-in policies. */
  proxies: string[];
  /** Names of proxy providers. */
  use: string[];
  includeProxies: boolean;
  includeProviders: boolean;
  /** For the nodes of providers and of the `include-…` options, not for those in `proxies`. */
  filter: NameFilter;
  testUrl: string | null;
  expectedStatus: string | null;
  intervalSec: number | null;
  toleranceMs: number | null;
  lazy: boolean;
  strategy: string | null;
  hidden: boolean;
  icon: string | null;
  remarks: ProfileRemark[];
}

export interface ProfileProxyProvider {
  name: string;
  url: string;
  intervalSec: number | null;
  userAgent: string | null;
  filter: NameFilter;
  remarks: ProfileRemark[];
}

export interface ProfileRuleProvider {
  name: string;
  behavior: 'domain' | 'ipcidr' | 'classical';
  format: 'yaml' | 'text' | 'mrs' | 'domain-set' | 'sing-box';
  source: { url: string } | { entries: string[] };
  intervalSec: number | null;
  remarks: ProfileRemark[];
}

export interface ProfileDns {
  nameservers: string[];
  bootstrap: string[];
  /** Domain in Clash wildcards to name servers. */
  policy: Record<string, string[]>;
  /** Options that the profile sets besides these. */
  otherOptions: string[];
}

export interface ProfileSniffer {
  /** Ports on which the first bytes of a flow are searched for a host name. */
  ports: number[];
  otherOptions: string[];
}

/** A Clash profile besides its nodes. Whatever it held is in a list here or in `dropped`. */
export interface Profile {
  groups: ProfileGroup[];
  /** Entries among the nodes that stand for a built-in policy, by name: `DIRECT`, `REJECT`. */
  builtIns: Map<string, string>;
  proxyProviders: ProfileProxyProvider[];
  ruleProviders: ProfileRuleProvider[];
  /** Rule lines by the name of the list. */
  subRules: { name: string; lines: string[] }[];
  /** Lines as written. */
  rules: string[];
  /** Null if it has none. */
  dns: ProfileDns | null;
  hosts: { domain: string; values: string[] }[];
  /** Null if it does not switch sniffing on. */
  sniffer: ProfileSniffer | null;
  /** Options of the machine that the profile was made for, such as ports. */
  machineOptions: string[];
  dropped: DroppedItem[];
}

export function emptyProfile(): Profile {
  return {
    groups: [],
    builtIns: new Map(),
    proxyProviders: [],
    ruleProviders: [],
    subRules: [],
    rules: [],
    dns: null,
    hosts: [],
    sniffer: null,
    machineOptions: [],
    dropped: [],
  };
}
