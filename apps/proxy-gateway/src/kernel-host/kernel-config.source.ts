import type { ListenerConfig, RuleConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { NodeVault } from '../nodes/node-vault.js';
import { OutboundGroupEntity } from '../outbound/outbound-group.entity.js';
import { OutboundPolicyEntity } from '../outbound/outbound-policy.entity.js';
import { Preferences } from '../preferences/preferences.service.js';
import { Rule } from '../rules/rule.entity.js';
import { ProxyGatewaySettings } from '../settings.js';
import type { ConfigNode, KernelConfigRows } from './kernel-config.mapper.js';
import { kernelSupport } from './kernel-support.js';

interface NodeRow {
  id: number;
  name: string;
  country: string | null;
  config: string;
}

/** Nodes in the order of groups: by hand first, then as their subscriptions list them. */
const SELECT_NODES = `
  SELECT node.id, coalesce(node.custom_name, node.original_name) AS name, node.country, node.config
  FROM nodes node
  LEFT JOIN LATERAL (
    SELECT source.subscription_id, source.position FROM node_sources source
    WHERE source.node_id = node.id ORDER BY source.subscription_id LIMIT 1
  ) first ON true
  WHERE node.enabled
  ORDER BY (node.source = 'manual') DESC, first.subscription_id, first.position, node.id`;

/** Reads what a kernel configuration is made of. */
@Injectable()
export class KernelConfigSource {
  /** Opened nodes by their sealed text, those of the last load only: a reload opens what is new. */
  private opened = new Map<string, Pick<ConfigNode, 'node' | 'unsupportedReason'>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly vault: NodeVault,
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  /** One snapshot of the database: rows that belong together are read together. */
  load(): Promise<KernelConfigRows> {
    return this.dataSource.transaction('REPEATABLE READ', async (tx) => {
      const nodes: NodeRow[] = await tx.query(SELECT_NODES);
      const groups = await tx.find(OutboundGroupEntity, { order: { position: 'ASC', id: 'ASC' } });
      const rules = await tx.find(Rule, { where: { enabled: true }, order: { priority: 'ASC', id: 'ASC' } });
      const policy = await tx.findOneByOrFail(OutboundPolicyEntity, { id: 1 });
      return {
        nodes: this.toConfigNodes(nodes),
        groups,
        rules: rules.map(toRuleConfig),
        defaultPolicy: policy.defaultPolicy,
        listeners: [this.listener()],
      };
    });
  }

  private toConfigNodes(rows: readonly NodeRow[]): ConfigNode[] {
    const opened: typeof this.opened = new Map();
    const nodes = rows.map(({ id, name, country, config }) => {
      const known = this.opened.get(config) ?? this.open(config);
      opened.set(config, known);
      return { id, name, country, ...known };
    });
    this.opened = opened;
    return nodes;
  }

  private open(config: string): Pick<ConfigNode, 'node' | 'unsupportedReason'> {
    const node = this.vault.open(config);
    return { node, unsupportedReason: kernelSupport(node).reason };
  }

  private listener(): ListenerConfig {
    const chosen = this.preferences.get('kernel.listen.mixed');
    const everywhere = this.preferences.get('kernel.allow_lan');
    return {
      name: 'mixed',
      type: 'mixed',
      address: chosen?.address ?? (everywhere ? '0.0.0.0' : this.settings.kernelAddress),
      port: chosen?.port ?? this.settings.kernelPort,
    };
  }
}

function toRuleConfig(rule: Rule): RuleConfig {
  return {
    id: rule.id,
    source: rule.source,
    type: rule.type as RuleConfig['type'],
    payload: rule.payload,
    target: rule.target,
    noResolve: rule.noResolve,
    src: rule.src,
  };
}
