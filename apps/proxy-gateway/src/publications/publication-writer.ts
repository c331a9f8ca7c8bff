import { hash } from 'node:crypto';
import type {
  PublicationDefinition,
  PublicationRemark,
  PublicationTarget,
  SubscriptionTraffic,
} from '@gatehouse/contracts';
import { writeOwnTemplate, writeTarget, type OwnTemplate } from '@gatehouse/subscription-formats';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { KernelConfigSource } from '../kernel-config/kernel-config.source.js';
import { buildInput, type PublicationInput, type PublicationRows } from './build-input.js';
import { TemplateStore } from './template-store.js';
import { formatUserinfo } from './userinfo.js';

export const DEFAULT_UPDATE_SEC = 43_200;

export interface WriteOptions {
  target: PublicationTarget;
  /** Overrides the template: the nodes alone. */
  onlyNodes?: boolean;
  /** In place of the one that the definition names for the target. */
  template?: OwnTemplate;
  /** The address of the document, for formats that name it. */
  url?: string;
}

export interface WrittenPublication extends Omit<PublicationInput, 'input'> {
  text: string;
  contentType: string;
  extension: string;
  nodes: number;
  remarks: PublicationRemark[];
  etag: string;
}

/** Writes publications from what the database holds at that moment. */
@Injectable()
export class PublicationWriter {
  constructor(
    private readonly source: KernelConfigSource,
    private readonly dataSource: DataSource,
    private readonly templates: TemplateStore,
  ) {}

  /** @throws NamePatternError; AppError UNPROCESSABLE for a template that does not open. */
  async write(
    definition: PublicationDefinition,
    { target, onlyNodes, url, template: given }: WriteOptions,
  ): Promise<WrittenPublication> {
    const ids = onlyNodes === true ? [] : (definition.template_ids ?? []);
    const own = given ?? (await this.templates.find(ids, target));
    const isPlain = onlyNodes === true || own !== undefined;
    const wanted = isPlain ? { ...definition, template: 'nodes' as const } : definition;
    const { input, ...built } = buildInput(await this.rows(), wanted);
    const update =
      url === undefined ? {} : { update: { url, intervalSec: definition.update_interval_sec ?? DEFAULT_UPDATE_SEC } };
    const { remarks, ...document } = own
      ? writeOwnTemplate(target, own, { nodes: input.nodes, ...update })
      : writeTarget(target, { ...input, ...update });
    return {
      ...built,
      ...document,
      remarks: [...remarksOf(built), ...remarks],
      etag: `"${hash('sha256', document.text, 'base64url')}"`,
    };
  }

  private async rows(): Promise<PublicationRows> {
    const rows = await this.source.load();
    const facts: { id: number; manual: boolean; delay: number | null }[] = await this.dataSource.query(
      `SELECT node.id, node.source = 'manual' AS manual, health.delay_ms AS delay FROM nodes node
       LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = '' WHERE node.enabled`,
    );
    const factsOf = new Map(facts.map((fact) => [fact.id, fact]));
    return {
      ...rows,
      nodes: rows.nodes.map((node) => {
        const { manual = false, delay = null } = factsOf.get(node.id) ?? {};
        return { ...node, manual, delayMs: delay };
      }),
    };
  }

  /** The quota that clients are shown; undefined: none is known, or none is to be shown. */
  async userinfo(
    { userinfo = 'sum' }: PublicationDefinition,
    subscriptionIds: readonly number[],
  ): Promise<string | undefined> {
    if (userinfo === 'none') return undefined;
    const rows: { traffic: SubscriptionTraffic | null }[] = await this.dataSource.query(
      'SELECT traffic FROM subscriptions WHERE id = ANY ($1::bigint[]) ORDER BY id',
      [userinfo === 'sum' ? subscriptionIds : [Number(userinfo)]],
    );
    return formatUserinfo(rows.map(({ traffic }) => traffic));
  }
}

/** What was left out before the target was asked. */
function remarksOf({
  unreadable,
  undialable,
}: Pick<PublicationInput, 'unreadable' | 'undialable'>): PublicationRemark[] {
  const leftOut = (reason: 'node_unreadable' | 'node_dialer', names: readonly string[]): PublicationRemark[] =>
    names.length === 0
      ? []
      : [{ outcome: 'left_out', reason, field: null, count: names.length, examples: names.slice(0, 5) }];
  return [...leftOut('node_unreadable', unreadable), ...leftOut('node_dialer', undialable)];
}
