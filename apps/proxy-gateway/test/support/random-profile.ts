import type { Network } from '@gatehouse/proxy-kernel';

/** What a client asks for. */
export interface Destination {
  network: Network;
  /** A name in ASCII, or an address. */
  host: string;
  port: number;
  /** The client's address, in 127.0.0.0/8. */
  source: string;
}

/** A list that a profile takes by its address. */
export interface RuleList {
  name: string;
  behavior: 'domain' | 'ipcidr' | 'classical';
  format: 'yaml' | 'text' | 'mrs';
  entries: string[];
}

interface Condition {
  head: string;
  options: string[];
}

const WORDS = ['a', 'b', 'cdn', 'ads', 'img', 'shop', 'mail', 'x1', 'xn--fiq228c'];
const SITES = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omega'.split(' ');
/** Names below `example` do not resolve. */
const ENDS = ['test', 'co.test', 'example'];
const NETS = ['203.0.113', '198.51.100', '192.0.2', '10.1.2', '172.16.9', '8.8.8', '1.0.1', '100.64.3'];
const NETS6 = ['2001:db8:1', '2001:db8:2', 'fd00:1'];
const PORTS = ['22', '80', '443', '8000-8100', '53/853', '5000-5100/6881'];
const REGEXES = ['^ads?\\d*\\.', '(^|\\.)cdn\\.', '\\.co\\.test$', '^[ab]{1,2}\\.', 'shop|mail', '^\\w+\\.alpha\\.'];
const ADDRESS_KINDS = ['IP-CIDR', 'IP-CIDR', 'GEOIP', 'IP-ASN', 'IP-SUFFIX', 'SRC-IP-CIDR', 'GEOIP-LAN'] as const;
const NAME_KINDS = [
  'DOMAIN',
  'DOMAIN-SUFFIX',
  'DOMAIN-SUFFIX',
  'DOMAIN-KEYWORD',
  'DOMAIN-WILDCARD',
  'DOMAIN-REGEX',
] as const;
const OTHER_KINDS = ['GEOSITE', 'DST-PORT', 'NETWORK', 'RULE-SET', 'RULE-SET', 'IN-TYPE'] as const;
const LISTS: readonly Pick<RuleList, 'behavior' | 'format'>[] = [
  { behavior: 'domain', format: 'yaml' },
  { behavior: 'domain', format: 'text' },
  { behavior: 'domain', format: 'mrs' },
  { behavior: 'ipcidr', format: 'yaml' },
  { behavior: 'ipcidr', format: 'text' },
  { behavior: 'ipcidr', format: 'mrs' },
  { behavior: 'classical', format: 'yaml' },
  { behavior: 'classical', format: 'text' },
];
const NODES = ['香港 1', '香港 2', '日本 1', 'US, 1', '新加坡 1'];
const PROVIDED = ['🇯🇵 机场 日本', '🇺🇸 机场 美国', '官网 机场'];
const GROUPS = ['甲', '乙', '丙', '丁', '戊', '己', '庚', '🐟 漏网之鱼'];
const TARGETS = [...GROUPS, ...GROUPS, '日本 1', 'REJECT', 'REJECT-DROP', 'PASS'];

const PLAIN_TARGETS = TARGETS.filter((target) => target !== '戊' && target !== 'PASS');

/** Numbers that a seed decides (mulberry32). */
class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/**
 * A profile with rules of every kind that a gateway can decide by. Its vocabulary is small, so that rules overlap. Every
 * name and address is made up, and the seed decides all of it.
 */
export class RandomProfile {
  readonly rules: string[];
  readonly lists: RuleList[];
  readonly subRules: Record<string, string[]>;
  readonly countries = { '203.0.113.0/24': 'JP', '198.51.100.0/25': 'US', '8.8.8.0/24': 'US', '1.0.1.0/24': 'CN' };
  readonly numbers = { '203.0.113.0/25': 64_500, '8.8.8.0/24': 15_169 };
  readonly sites: Record<string, string[]>;
  readonly hosts: Record<string, string[]>;
  private readonly names: ReadonlyMap<string, string>;
  private readonly random: Random;
  private readonly hintedNames: string[] = [];
  private readonly hintedAddresses: string[] = [];
  private hasSubRules = false;

  constructor(seed: number, ruleCount: number) {
    this.random = new Random(seed);
    this.sites = {
      ads: ['domain:ads.test', 'full:a.beta.test', 'keyword:img'],
      cn: ['domain:alpha.co.test', 'regexp:^mail\\.'],
    };
    this.hintedNames.push('ads.test', 'a.beta.test', 'alpha.co.test');
    this.lists = LISTS.map((list, index) => ({ ...list, name: `list${index}`, entries: this.entries(list.behavior) }));
    this.subRules = {
      inner: [...this.lines(4)],
      outer: [...this.lines(3), `SUB-RULE,(${this.flat(this.simple())}),inner`, ...this.lines(2)],
    };
    this.hasSubRules = true;
    this.rules = [...this.lines(ruleCount), 'MATCH,🐟 漏网之鱼'];
    const known = [...new Set(this.hintedAddresses)];
    this.names = new Map(known.map((address, index) => [`n${index}.known.test`, address]));
    this.hosts = { 'pinned.test': ['203.0.113.9'], '+.pin.test': ['198.51.100.4'], '*.pinned.example': ['8.8.8.8'] };
    this.hintedNames.push('pinned.test', 'x.pin.test', 'pin.test', 'a.pinned.example', ...this.names.keys());
  }

  /** What the name server answers. */
  addressesOf(name: string): string[] {
    const known = this.names.get(name);
    if (known !== undefined) return [known];
    return name.endsWith('.test') ? ['192.0.2.200'] : [];
  }

  /** The document of the provider that the profile names. */
  provided(markerPort: number): string {
    return `proxies:\n${PROVIDED.map((name) => node(name, markerPort)).join('\n')}\n`;
  }

  /** @param files where the lists and the document of the provider are. */
  text(servers: { marker: number; files: string; nameServer: string; port: number }): string {
    const provider = ({ name, behavior, format }: RuleList): string =>
      `  ${name}: {type: http, behavior: ${behavior}, format: ${format}, url: "${servers.files}/${name}", interval: 86400, proxy: DIRECT}`;
    return `mixed-port: ${servers.port}
mode: rule
log-level: info
find-process-mode: "off"
geodata-mode: false
geo-auto-update: false
profile: {store-selected: false}
dns: {enable: true, ipv6: true, enhanced-mode: normal, nameserver: ["${servers.nameServer}"]}
hosts: ${JSON.stringify(this.hosts)}
proxies:
${NODES.map((name) => node(name, servers.marker)).join('\n')}
  - {name: 只有 TCP, type: http, server: 127.0.0.1, port: ${servers.marker}}
proxy-providers:
  机场: {type: http, url: "${servers.files}/airport", interval: 86400, proxy: DIRECT, health-check: {enable: false}}
proxy-groups:
  - {name: 甲, type: select, proxies: [香港 2, 香港 1]}
  - {name: 乙, type: select, proxies: [甲, 日本 1]}
  - {name: 丙, type: select, use: [机场], filter: "美国|US", exclude-filter: 官网}
  - {name: 丁, type: select, include-all: true, filter: "(?i)日本\`us"}
  - {name: 戊, type: select, proxies: [只有 TCP, 香港 1]}
  - {name: 己, type: select, include-all-proxies: true, filter: "US\`日本\`香港"}
  - {name: 庚, type: select, proxies: [香港 1, 甲, 日本 1], exclude-filter: "香港|甲"}
  - {name: 🐟 漏网之鱼, type: select, proxies: ["US, 1", 乙]}
rule-providers:
${this.lists.map(provider).join('\n')}
  inside: {type: inline, behavior: classical, payload: ["DOMAIN-SUFFIX,img.gamma.test", "IP-CIDR,100.64.3.0/26,no-resolve"]}
sub-rules:
${Object.entries(this.subRules)
  .map(([name, lines]) => `  ${name}:\n${lines.map((line) => `    - ${JSON.stringify(line)}`).join('\n')}`)
  .join('\n')}
rules:
${this.rules.map((line, index) => `  - ${index % 3 === 0 ? JSON.stringify(line) : `'${line}'`}`).join('\n')}
`;
  }

  destinations(count: number): Destination[] {
    const found = new Map<string, Destination>();
    while (found.size < count) {
      const one = this.destination();
      found.set(Object.values(one).join(' '), one);
    }
    return [...found.values()];
  }

  private destination(): Destination {
    const { random } = this;
    const host = random.chance(25)
      ? this.near(random.pick(this.hintedAddresses))
      : this.nameNear(random.pick(this.hintedNames));
    const network = random.chance(4) ? 'udp' : 'tcp';
    return {
      network,
      host,
      port: random.chance(20) ? random.pick([22, 53, 80, 853, 6881, 8050]) : 1_024 + random.below(60_000),
      source: network === 'tcp' && random.chance(10) ? `127.0.1.${1 + random.below(200)}` : '127.0.0.1',
    };
  }

  private near(address: string): string {
    return this.random.chance(60) ? address : address.replace(/[0-9a-f]+$/, () => String(1 + this.random.below(250)));
  }

  private nameNear(name: string): string {
    const { random } = this;
    switch (random.below(7)) {
      case 0:
        return `${random.pick(WORDS)}.${name}`;
      case 1:
        return `x.${random.pick(WORDS)}.${name}`;
      case 2:
        return `no${name}`;
      case 3:
        return name.includes('.') && name.split('.').length > 2 ? name.slice(name.indexOf('.') + 1) : name;
      case 4:
        return this.name();
      default:
        return name;
    }
  }

  private *lines(count: number): Generator<string> {
    for (let made = 0; made < count; made++) {
      if (this.hasSubRules && this.random.chance(4)) {
        yield `SUB-RULE,(${this.flat(this.simple())}),${this.random.pick(['outer', 'inner'])}`;
        continue;
      }
      if (this.random.chance(3)) {
        yield `PROCESS-NAME,${this.random.pick(WORDS)},甲`;
        continue;
      }
      const { head, options } = this.condition();
      // What becomes of a flow that the target of a sub-rule does not take depends on the version of mihomo.
      yield [head, this.random.pick(this.hasSubRules ? TARGETS : PLAIN_TARGETS), ...options].join(',');
    }
  }

  private condition(): Condition {
    if (!this.random.chance(18)) return this.simple();
    const part = (): string => {
      if (this.random.chance(15))
        return `${this.random.pick(['AND', 'OR'])},((${this.flat(this.simple())}),(${this.flat(this.simple())}))`;
      return this.flat(this.simple());
    };
    // A negation alone would take most flows, and leave nothing to the rules behind it.
    const negated = this.random.chance(40) ? [`NOT,((${part()}))`] : [];
    const parts = [part(), ...(negated.length > 0 && this.random.chance(50) ? [] : [part()])];
    const type = negated.length > 0 ? 'AND' : this.random.pick(['AND', 'OR']);
    const all = this.random.chance(50) ? [...negated, ...parts] : [...parts, ...negated];
    return { head: `${type},(${all.map((one) => `(${one})`).join(',')})`, options: [] };
  }

  private flat({ head, options }: Condition): string {
    return [head, ...options].join(',');
  }

  private simple(): Condition {
    const { random } = this;
    const from = random.below(10);
    if (from < 5) return { head: this.ofName(random.pick(NAME_KINDS)), options: [] };
    if (from < 8) return this.ofAddress(random.pick(ADDRESS_KINDS));
    return this.ofOther(random.pick(OTHER_KINDS));
  }

  private ofName(kind: (typeof NAME_KINDS)[number]): string {
    const { random } = this;
    if (kind === 'DOMAIN-KEYWORD') return `${kind},${random.pick([...SITES, ...WORDS.slice(2)])}`;
    if (kind === 'DOMAIN-REGEX') return `${kind},${random.pick(REGEXES)}`;
    const name = this.name();
    this.hintedNames.push(name);
    if (kind !== 'DOMAIN-WILDCARD') return `${kind},${name}`;
    return `${kind},${random.pick([`*.${name}`, name.replace(/^[^.]+/, '*'), name.replace(/.(?=\.)/, '?'), `*${random.pick(SITES)}*`])}`;
  }

  private ofAddress(kind: (typeof ADDRESS_KINDS)[number]): Condition {
    const { random } = this;
    const options = random.chance(50) ? ['no-resolve'] : [];
    switch (kind) {
      case 'SRC-IP-CIDR':
        return { head: `SRC-IP-CIDR,127.0.1.${64 * random.below(4)}/26`, options: [] };
      case 'GEOIP':
        return { head: `GEOIP,${random.pick(['JP', 'US', 'CN'])}`, options };
      case 'GEOIP-LAN':
        return { head: 'GEOIP,LAN', options };
      case 'IP-ASN':
        return { head: `IP-ASN,${random.pick(Object.values(this.numbers))}`, options };
      case 'IP-SUFFIX':
        return { head: `IP-SUFFIX,0.0.0.${random.below(256)}/${random.pick([4, 8])}`, options };
      case 'IP-CIDR': {
        const prefix = this.prefix();
        return { head: `${prefix.includes(':') ? 'IP-CIDR6' : 'IP-CIDR'},${prefix}`, options };
      }
    }
  }

  private ofOther(kind: (typeof OTHER_KINDS)[number]): Condition {
    const { random } = this;
    switch (kind) {
      case 'GEOSITE':
        return { head: `GEOSITE,${random.pick(['ads', 'CN'])}`, options: [] };
      case 'DST-PORT':
        return { head: `DST-PORT,${random.pick(PORTS)}`, options: [] };
      case 'NETWORK':
        return { head: 'NETWORK,udp', options: [] };
      case 'IN-TYPE':
        return { head: 'IN-TYPE,HTTP', options: [] };
      case 'RULE-SET': {
        const name = random.chance(10) ? 'inside' : `list${random.below(LISTS.length)}`;
        return { head: `RULE-SET,${name}`, options: random.chance(40) ? ['no-resolve'] : [] };
      }
    }
  }

  private name(): string {
    const { random } = this;
    const labels = Array.from({ length: random.below(3) }, () => random.pick(WORDS));
    return [...labels, random.pick(SITES), random.pick(ENDS)].join('.');
  }

  private prefix(): string {
    const { random } = this;
    if (random.chance(20)) {
      const net = random.pick(NETS6);
      this.hintedAddresses.push(`${net}::${1 + random.below(9)}`);
      return `${net}::/${random.pick([32, 48, 64])}`;
    }
    const net = random.pick(NETS);
    const block = 64 * random.below(4);
    this.hintedAddresses.push(`${net}.${block + 1 + random.below(62)}`);
    return random.pick([`${net}.0/24`, `${net}.${block}/26`, `${net}.${block + 8}/29`, `${net}.${block + 1}/32`]);
  }

  private entries(behavior: RuleList['behavior']): string[] {
    const made = Array.from({ length: 12 }, () => this.entry(behavior));
    return [...new Set(made)];
  }

  private entry(behavior: RuleList['behavior']): string {
    const { random } = this;
    if (behavior === 'ipcidr') return this.prefix();
    if (behavior === 'classical') {
      if (random.chance(10)) return `PROCESS-NAME,${random.pick(WORDS)}`;
      if (random.chance(10)) return `DST-PORT,${random.pick(PORTS)}`;
      return this.flat(
        random.chance(60) ? { head: this.ofName(random.pick(NAME_KINDS)), options: [] } : this.ofAddress('IP-CIDR'),
      );
    }
    const name = this.name();
    this.hintedNames.push(name);
    return random.pick([name, `+.${name}`, `+.${name}`, `.${name}`, `*.${name}`, `a.*.${name}`]);
  }
}

function node(name: string, port: number): string {
  return `  - {name: ${JSON.stringify(name)}, type: socks5, server: 127.0.0.1, port: ${port}, username: ${JSON.stringify(name)}, password: p, udp: true}`;
}
