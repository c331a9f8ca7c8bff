/** Clash profiles in the shapes of common makers. Every name, address and rule is made up. */
export interface ProfileShape {
  text: string;
  /** Lines under `rules:`. */
  rules: number;
}

export interface ShapeNode {
  name: string;
  port: number;
}

const REGIONS = ['🇭🇰 香港', '🇯🇵 日本', '🇺🇸 美国', '🇸🇬 新加坡'] as const;

/** An HTTP proxy on loopback as a node. */
function proxyLine({ name, port }: ShapeNode): string {
  return `  - {name: ${JSON.stringify(name)}, type: http, server: 127.0.0.1, port: ${port}}`;
}

function list(names: readonly string[], indent = '      '): string {
  return names.map((name) => `${indent}- ${JSON.stringify(name)}`).join('\n');
}

function group(name: string, type: string, members: readonly string[], more = ''): string {
  return `  - name: ${JSON.stringify(name)}\n    type: ${type}\n    proxies:\n${list(members)}\n${more}`;
}

/**
 * As converters write it with the rules of ACL4SSR: groups with emoji that name each other and every node, and all rules
 * written out.
 */
export function writtenOutProfile(nodes: readonly ShapeNode[], count: number): ProfileShape {
  const names = nodes.map(({ name }) => name);
  const groups = [
    group('🚀 节点选择', 'select', ['♻️ 自动选择', 'DIRECT', ...names]),
    group('♻️ 自动选择', 'url-test', names, '    url: http://www.gstatic.com/generate_204\n    interval: 300\n'),
    group('🌍 国外媒体', 'select', ['🚀 节点选择', '♻️ 自动选择', '🎯 全球直连', ...names]),
    group('🎯 全球直连', 'select', ['DIRECT', '🚀 节点选择']),
    group('🛑 全球拦截', 'select', ['REJECT', 'DIRECT']),
    group('🐟 漏网之鱼', 'select', ['🚀 节点选择', '🎯 全球直连', '♻️ 自动选择', '剩余流量：10 GB', ...names]),
  ];
  const targets = ['🎯 全球直连', '🛑 全球拦截', '🌍 国外媒体', '🚀 节点选择'];
  const domains = Array.from({ length: count - 4 }, (_, index) => {
    const target = targets[index % targets.length];
    const kind = ['DOMAIN-SUFFIX', 'DOMAIN', 'DOMAIN-KEYWORD'][index % 3];
    return ` - ${kind},host${index}.example,${target}`;
  });
  const rules = [
    ' - PROCESS-NAME,aria2c,🎯 全球直连',
    ...domains,
    ' - IP-CIDR,192.168.0.0/16,🎯 全球直连,no-resolve',
    ' - GEOIP,CN,🎯 全球直连',
    ' - MATCH,🐟 漏网之鱼',
  ];
  const text = `port: 7890\nsocks-port: 7891\nallow-lan: true\nmode: Rule\nlog-level: info\nexternal-controller: :9090
proxies:\n${nodes.map(proxyLine).join('\n')}\nproxy-groups:\n${groups.join('')}rules:\n${rules.join('\n')}\n`;
  return { text, rules: rules.length };
}

/** As published lists (Loyalsoldier, blackmatrix7) are used: rule providers of every behavior, and few rules. */
export function ruleProviderProfile(nodes: readonly ShapeNode[], url: string): ProfileShape {
  const rules = [
    'RULE-SET,applications,DIRECT',
    'DOMAIN,clash.razord.top,DIRECT',
    'RULE-SET,reject,REJECT',
    'RULE-SET,proxy,PROXY',
    'RULE-SET,lancidr,DIRECT,no-resolve',
    'AND,((RULE-SET,proxy),(NETWORK,udp)),REJECT-TINYGIF',
    'GEOIP,telegram,PROXY',
    'MATCH,PROXY',
  ];
  const provider = (name: string, behavior: string): string =>
    `  ${name}:\n    type: http\n    behavior: ${behavior}\n    url: "${url}/${name}.txt"\n    path: ./ruleset/${name}.yaml\n    interval: 86400`;
  const text = `proxies:\n${nodes.map(proxyLine).join('\n')}
proxy-groups:
${group(
  'PROXY',
  'select',
  nodes.map(({ name }) => name),
)}rule-providers:
${provider('reject', 'domain')}
${provider('proxy', 'domain')}
${provider('lancidr', 'ipcidr')}
  applications: {type: inline, behavior: classical, payload: ['DOMAIN-SUFFIX,apps.example', 'PROCESS-NAME,x']}
  local: {type: file, behavior: domain, path: ./local.yaml}
rules:
${rules.map((rule) => `  - ${rule}`).join('\n')}
`;
  return { text, rules: rules.length };
}

/** As mihomo's documentation shows it: anchors, providers, filters with look-ahead, sub-rules, name servers. */
export function mihomoProfile(nodes: readonly ShapeNode[], providerUrl: string): ProfileShape {
  const rules = [
    'SUB-RULE,(NETWORK,tcp),tcp-first',
    'OR,((DOMAIN-SUFFIX,one.example),(DOMAIN-KEYWORD,zwei)),香港',
    'GEOSITE,no-such-list-of-sites,DIRECT',
    'DOMAIN,gone.example,没有这个组',
    'MATCH,默认',
  ];
  const text = `mixed-port: 7890
dns: {enable: true, nameserver: [https://doh.example/dns-query, 'tls://dot.example'], nameserver-policy: {'+.lan.example': 192.0.2.53}}
hosts: {'router.example': 192.0.2.1, 'alias.example': other.example}
sniffer: {enable: true, sniff: {HTTP: {ports: [80, 8080-8081]}, TLS: {ports: [443]}}}
proxies:
${nodes.map(proxyLine).join('\n')}
proxy-providers:
  机场: {type: http, url: "${providerUrl}", interval: 3600, exclude-filter: 官网}
  elsewhere: {type: http, url: "http://127.0.0.1:9/inside"}
auto: &auto {type: url-test, include-all: true, tolerance: 20}
proxy-groups:
  - {name: 默认, type: select, proxies: [自动, 香港, 链式, DIRECT]}
  - {name: 自动, <<: *auto, exclude-filter: '(?i)剩余|到期'}
  - {name: 香港, <<: *auto, filter: '^(?=.*((?i)港|HK|hong))(?!.*(网站|官网)).*$'}
  - {name: 只用机场, type: fallback, use: [机场]}
  - {name: 链式, type: relay, proxies: [自动, 香港]}
  - {name: 循环, type: select, proxies: [循环, 默认]}
sub-rules:
  tcp-first:
    - DOMAIN-SUFFIX,sub.example,香港
    - DOMAIN,direct.sub.example,DIRECT
rules:
${rules.map((rule) => `  - ${rule}`).join('\n')}
`;
  return { text, rules: rules.length };
}

/** A node in each region. */
export function regionNodes(ports: readonly number[]): ShapeNode[] {
  return ports.map((port, index) => ({ name: `${REGIONS[index % REGIONS.length]} ${index + 1}`, port }));
}
