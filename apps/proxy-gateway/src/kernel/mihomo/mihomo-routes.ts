import {
  compileRouter,
  compileRuleSets,
  createPolicyTable,
  createResolver,
  type ConnectionMetadata,
  type GroupState,
  type KernelConfig,
  type KernelEnvironment,
  type Router,
  type SelectablePolicyTable,
  type TracedDecision,
} from '@gatehouse/proxy-kernel';
import { carriesUdp } from './mihomo-config.js';

type Databases = Pick<KernelEnvironment, 'resolver' | 'country' | 'asn'>;

/** Where flows would go: decided by our own router with the same rules, since mihomo has no call for this. */
export class MihomoRoutes {
  readonly #policies: SelectablePolicyTable;
  readonly #router: Router;

  constructor(config: KernelConfig, { resolver, country, asn }: Databases) {
    const outbounds = new Map(config.outbounds.map(({ tag, node }) => [tag, { udp: carriesUdp(node) }]));
    const { rules, mode, defaultPolicy, ruleSets = [], dns } = config;
    // mihomo asks the configured name servers, and so must a test of its rules.
    const names = dns ? createResolver(dns) : null;
    this.#policies = createPolicyTable(outbounds, config.groups);
    this.#router = compileRouter({
      rules,
      mode,
      defaultPolicy,
      policies: this.#policies,
      resolver: names ?? resolver,
      known: names ? (host: string) => names.fixed(host) : undefined,
      country,
      ruleSets: compileRuleSets(ruleSets),
      ...(asn ? { asn } : {}),
    });
  }

  /** `groups`: with mihomo's present choices. */
  explain(flow: ConnectionMetadata, groups: readonly GroupState[]): Promise<TracedDecision> {
    for (const { name, type, now } of groups) {
      if (type !== 'load-balance' && now !== null) this.#policies.select(name, now);
    }
    return this.#router.explain(flow);
  }
}
