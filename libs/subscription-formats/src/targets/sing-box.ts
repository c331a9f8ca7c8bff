import { showRule } from './clash.js';
import type { Prepared, PreparedGroup } from './prepare.js';
import type { TargetInput, TargetRule } from './target.js';

type Options = Record<string, unknown>;

const DIRECT = 'direct';
const DEFAULT_TEST_URL = 'https://www.gstatic.com/generate_204';
const LOCAL_DNS = 'local';

/** A configuration of sing-box 1.12, which is JSON and has no comments. */
export function singBoxDocument(prepared: Prepared, input: TargetInput): string {
  const entries = prepared.nodes.map(({ entry }) => entry as Options);
  const endpoints = entries.filter(({ type }) => type === 'wireguard');
  const outbounds = entries.filter(({ type }) => type !== 'wireguard');
  const places = endpoints.length === 0 ? { outbounds } : { endpoints, outbounds };
  if (input.final === null) return `${JSON.stringify(places, null, 2)}\n`;
  const groups = usableGroups(prepared);
  const rejected = new Set(prepared.groups.filter((group) => !groups.includes(group)).map(({ name }) => name));
  const document = {
    log: { level: 'info' },
    dns: { servers: [{ type: 'local', tag: LOCAL_DNS }] },
    inbounds: [
      {
        type: 'tun',
        tag: 'tun-in',
        address: ['172.19.0.1/30', 'fdfe:dcba:9876::1/126'],
        auto_route: true,
        strict_route: true,
      },
      { type: 'mixed', tag: 'mixed-in', listen: '127.0.0.1', listen_port: 2080 },
    ],
    ...places,
    outbounds: [
      ...groups.map((group) => writeGroup(group, prepared, rejected)),
      ...outbounds,
      { type: 'direct', tag: DIRECT },
    ],
    route: writeRoute(prepared, input, rejected),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** No outbound of sing-box rejects, so a group that has nothing else is none: rules reject in its place. */
function usableGroups({ groups }: Prepared): PreparedGroup[] {
  const empty = new Set<string>();
  const isUsable = ({ members }: PreparedGroup): boolean => members.some((name) => !isReject(name) && !empty.has(name));
  for (let before = -1; before !== empty.size;) {
    before = empty.size;
    for (const group of groups) if (!isUsable(group)) empty.add(group.name);
  }
  return groups.filter(({ name }) => !empty.has(name));
}

function isReject(name: string): boolean {
  return name === 'REJECT' || name === 'REJECT-DROP';
}

function writeGroup(group: PreparedGroup, { remarks }: Prepared, rejected: ReadonlySet<string>): Options {
  const { name, type, members, testUrl, intervalSec, toleranceMs } = group;
  const outbounds = members
    .filter((member) => !isReject(member) && !rejected.has(member))
    .map((member) => (member === 'DIRECT' ? DIRECT : member));
  if (type === 'select') return { type: 'selector', tag: name, outbounds };
  // sing-box has no fallback and no load balancing; the fastest member is the closest.
  if (type !== 'url-test') remarks.add('changed', 'group_type', type, name);
  return {
    type: 'urltest',
    tag: name,
    outbounds,
    url: testUrl ?? DEFAULT_TEST_URL,
    ...(intervalSec === undefined ? {} : { interval: `${intervalSec}s` }),
    ...(toleranceMs === undefined ? {} : { tolerance: toleranceMs }),
  };
}

function writeRoute(prepared: Prepared, { rules, final }: TargetInput, rejected: ReadonlySet<string>): Options {
  const written: Options[] = [{ action: 'sniff' }, { protocol: 'dns', action: 'hijack-dns' }];
  let resolved = false;
  for (const rule of rules) {
    const condition = writeCondition(rule);
    const target = prepared.nameOf(rule.target);
    if (condition === undefined) {
      prepared.remarks.add('left_out', rule.type === 'RULE-SET' ? 'rule_set' : 'rule_type', rule.type, showRule(rule));
    } else if (target === undefined) prepared.remarks.add('left_out', 'rule_target', null, showRule(rule));
    else {
      // As in Clash, the first rule for addresses that says nothing else looks names up.
      if (!resolved && condition['ip_cidr'] !== undefined && rule.noResolve !== true) {
        resolved = true;
        written.push({ action: 'resolve' });
      }
      written.push({ ...condition, ...writeTarget(target, rejected) });
    }
  }
  const last = prepared.nameOf(final ?? '') ?? 'REJECT';
  const isRejected = isReject(last) || rejected.has(last);
  if (isRejected) written.push({ network: ['tcp', 'udp'], action: 'reject' });
  return {
    rules: written,
    final: isRejected || last === 'DIRECT' ? DIRECT : last,
    auto_detect_interface: true,
    default_domain_resolver: LOCAL_DNS,
  };
}

function writeTarget(name: string, rejected: ReadonlySet<string>): Options {
  if (name === 'REJECT-DROP') return { action: 'reject', method: 'drop' };
  if (name === 'REJECT' || rejected.has(name)) return { action: 'reject' };
  return { outbound: name === 'DIRECT' ? DIRECT : name };
}

/** The condition of a rule; undefined if sing-box has none like it without a set. */
function writeCondition({ type, payload, src }: TargetRule): Options | undefined {
  switch (type) {
    case 'DOMAIN':
      return { domain: [payload] };
    case 'DOMAIN-SUFFIX':
      return { domain_suffix: [payload] };
    case 'DOMAIN-KEYWORD':
      return { domain_keyword: [payload] };
    case 'IP-CIDR':
    case 'IP-CIDR6':
      return src === true ? { source_ip_cidr: [payload] } : { ip_cidr: [payload] };
    case 'SRC-IP-CIDR':
      return { source_ip_cidr: [payload] };
    case 'DST-PORT':
      return ports(payload, 'port');
    case 'SRC-PORT':
      return ports(payload, 'source_port');
    case 'NETWORK':
      return { network: [payload.toLowerCase()] };
    case 'PROCESS-NAME':
      return { process_name: [payload] };
    default:
      return undefined;
  }
}

function ports(payload: string, key: 'port' | 'source_port'): Options {
  const parts = payload.split(/[,/]/).map((part) => part.trim());
  const single = parts.filter((part) => !part.includes('-')).map(Number);
  const ranges = parts.filter((part) => part.includes('-')).map((part) => part.replace('-', ':'));
  return {
    ...(single.length === 0 ? {} : { [key]: single }),
    ...(ranges.length === 0 ? {} : { [`${key}_range`]: ranges }),
  };
}
