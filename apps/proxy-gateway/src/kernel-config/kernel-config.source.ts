import type { ProxyNode } from '@gatehouse/contracts';
import type { ListenerConfig, ProxyUserConfig } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { ListenPlace } from '../common/kernel-figures.js';
import type { Preferences } from '../preferences/preferences.service.js';
import { NodeVault, UNREADABLE_NODE, type SealedNode } from '../data/node-vault.js';
import { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import { OutboundPolicyEntity } from '../data/outbound-policy.entity.js';
import { RuleSetSource } from './rule-set-source.js';
import { RuleList } from './rule-list.js';
import type { ConfigGroup, ConfigNode, KernelConfigRows } from './kernel-config.mapper.js';
import { readOverlay } from './profile-overlay.js';
import { InternalUser } from './internal-user.js';
import { KernelMode } from './kernel-mode.js';
import { KernelOptions } from './kernel-options.js';
import { kernelSupport } from './kernel-support.js';
import { ProxyUserSource } from './proxy-user-source.js';
import { mihomoObstacle } from './mihomo-support.js';

interface NodeRow {
  id: number;
  name: string;
  country: string | null;
  config: string;
  tags: string[];
  subscription_ids: string[];
  alive: boolean | null;
}

type OpenedNode = Pick<ConfigNode, 'node' | 'unsupportedReason'>;

interface CacheEntry {
  readonly config: string;
  readonly opened: OpenedNode;
}

/** Stands for a node whose definition cannot be opened; the node is left out and never dialled. */
const NO_DEFINITION: ProxyNode = { name: '', type: 'snell', server: '', port: 0, options: {} };

/** Nodes in the order of group members: those added by hand first, then in the order of their subscriptions. */
const SELECT_NODES = `
  SELECT node.id, coalesce(node.custom_name, node.original_name) AS name, node.country, node.config, node.tags,
    coalesce(carried.ids, '{}') AS subscription_ids, health.alive
  FROM nodes node
  LEFT JOIN (
    SELECT node_id, array_agg(subscription_id ORDER BY subscription_id) AS ids,
      (array_agg(position ORDER BY subscription_id))[1] AS position
    FROM node_sources GROUP BY node_id
  ) carried ON carried.node_id = node.id
  LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = ''
  WHERE node.enabled
  ORDER BY (node.source = 'manual') DESC, carried.ids[1], carried.position, node.id`;

/** Country groups come after the groups of users, in the order of their codes. */
const GROUP_ORDER = { position: 'ASC', country: 'ASC', id: 'ASC' } as const;

/** Reads the rows that make a kernel configuration. */
@Injectable()
export class KernelConfigSource {
  private readonly logger = new Logger('Kernel');
  /** Opened nodes by row, for those of the last load only, so that a reload opens only what is new. */
  private cache = new Map<number, CacheEntry>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly vault: NodeVault,
    private readonly options: KernelOptions,
    readonly mode: KernelMode,
    private readonly ruleList: RuleList,
    private readonly ruleSets: RuleSetSource,
    private readonly proxyUsers: ProxyUserSource,
    private readonly internalUser: InternalUser,
  ) {}

  /** Reads one snapshot of the database, so that all rows belong to the same state. */
  load(): Promise<KernelConfigRows> {
    return this.dataSource.transaction('REPEATABLE READ', async (tx) => {
      const nodes: NodeRow[] = await tx.query(SELECT_NODES);
      const groups = await tx.find(OutboundGroupEntity, { order: GROUP_ORDER });
      const { rules } = await this.ruleList.load(tx);
      const ruleSets = await this.ruleSets.load(tx, rules);
      const policy = await tx.findOneByOrFail(OutboundPolicyEntity, { id: 1 });
      return {
        nodes: this.toConfigNodes(nodes),
        groups: groups.map((group) => this.toConfigGroup(group)),
        rules,
        ruleSets,
        ...this.options.names(await readOverlay(tx)),
        guard: this.options.guard(),
        mode: this.options.routingMode,
        defaultPolicy: policy.defaultPolicy,
        ...(await this.access(tx)),
      };
    });
  }

  /** Users of the settings go before rows of the same name. While there is any row, a login is needed. */
  private async access(tx: EntityManager): Promise<Pick<KernelConfigRows, 'listeners' | 'quotas'>> {
    const own = this.options.users();
    const internal = own.length === 0 ? await this.internalUser.ifNeeded(tx) : null;
    const { users, quotas } = await this.proxyUsers.load(tx);
    const first = internal ? [internal] : own;
    const names = new Set(first.map(({ username }) => username));
    return { listeners: this.listeners([...first, ...users.filter(({ username }) => !names.has(username))]), quotas };
  }

  /** The settings refuse ports of groups with mihomo, but it may still run until the service restarts. */
  private listeners(users: ProxyUserConfig[]): ListenerConfig[] {
    const all = this.options.listeners(users);
    return this.mode.get() === 'mihomo' ? all.filter(({ group }) => group === undefined) : all;
  }

  /** Every address that a kernel listens on with these settings. */
  placesWith(preferences: Pick<Preferences, 'get'>): ListenPlace[] {
    return this.options.places(preferences);
  }

  /** Calls back when the configuration changes because the service has started to listen. */
  onListening(listener: () => void): void {
    this.options.onListening(listener);
  }

  /** The selected tags by group, for groups with a selection. */
  async loadSelections(): Promise<ReadonlyMap<string, string>> {
    const rows: { name: string; tag: string }[] = await this.dataSource.query(
      'SELECT name, selected_tag AS tag FROM outbound_groups WHERE selected_tag IS NOT NULL',
    );
    return new Map(rows.map(({ name, tag }) => [name, tag]));
  }

  private toConfigNodes(rows: readonly NodeRow[]): ConfigNode[] {
    const cache: typeof this.cache = new Map();
    const nodes = rows.map(({ config, subscription_ids: subscriptionIds, ...row }) => {
      const known = this.cache.get(row.id);
      const entry = known?.config === config ? known : { config, opened: this.open({ id: row.id, config }, row.name) };
      cache.set(row.id, entry);
      // pg reads an array of bigint as texts.
      return { ...row, subscriptionIds: subscriptionIds.map(Number), ...entry.opened };
    });
    this.cache = cache;
    return nodes;
  }

  private open(row: SealedNode, name: string): OpenedNode {
    const node = this.vault.tryOpen(row);
    if (!node) {
      this.logger.error(`The kernel goes without node ${row.id} (${name}): ${UNREADABLE_NODE}`);
      return { node: NO_DEFINITION, unsupportedReason: UNREADABLE_NODE };
    }
    const { support, reason } = kernelSupport(node);
    if (this.mode.get() === 'mihomo' && support !== 'unsupported') {
      return { node, unsupportedReason: mihomoObstacle(node, this.mode.mihomoVersion) };
    }
    return { node, unsupportedReason: reason };
  }

  private toConfigGroup(group: OutboundGroupEntity): ConfigGroup {
    const toleranceMs = group.toleranceMs ?? this.options.toleranceMs;
    return Object.assign(group, { toleranceMs: group.type === 'url-test' ? toleranceMs : null });
  }
}
