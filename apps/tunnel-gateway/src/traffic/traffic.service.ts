import type { Actor } from '@gatehouse/auth';
import type { FlowSeries, FlowStatPage, FlowStatView, RequestIpPage, RequestIpView } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { ResourceOwners } from '../data/resource-owners.js';
import { instant } from '../wire/view-parts.js';
import { bucketRange } from './bucket.js';
import { SeriesReader } from './flow-series.js';
import {
  ADDRESS_SORTS,
  FLOW_STAT_SORTS,
  type FlowStatQuery,
  type RequestIpQuery,
  type SeriesQuery,
} from './traffic.dto.js';
import type { FlowStat, RequestIp } from '../data/traffic.entity.js';

/** Traffic totals and visitors' addresses. */
@Injectable()
export class TrafficService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly owners: ResourceOwners,
    private readonly series: SeriesReader,
  ) {}

  async flowStats(query: FlowStatQuery, actor: Actor): Promise<FlowStatPage> {
    const { items, next_cursor } = await this.owned.flowStats(actor).page(query, conditionsOf(query), FLOW_STAT_SORTS);
    return { items: items.map(toFlowStatView), next_cursor };
  }

  async requestIps(query: RequestIpQuery, actor: Actor): Promise<RequestIpPage> {
    const { ip } = query;
    const conditions = [
      ...conditionsOf(query),
      ...(ip === undefined ? [] : [{ sql: 'row.ip = :ip', parameters: { ip } }]),
    ];
    const { items, next_cursor } = await this.owned.requestIps(actor).page(query, conditions, ADDRESS_SORTS);
    return { items: items.map(toRequestIpView), next_cursor };
  }

  async flowSeries(query: SeriesQuery, actor: Actor): Promise<FlowSeries> {
    const { resource_type, resource_id, bucket, from, to } = query;
    const range = bucketRange(bucket, { from, to }, Date.now());
    await this.owners.seen(actor, resource_type, resource_id);
    const points = await this.series.points(resource_type, resource_id, bucket, range);
    return { resource_type, resource_id, bucket, points };
  }
}

function conditionsOf({
  resource_type: kind,
  resource_id: id,
}: Pick<FlowStatQuery, 'resource_type' | 'resource_id'>): Condition[] {
  return [
    ...(kind === undefined ? [] : [{ sql: 'row.resource_type = :kind', parameters: { kind } }]),
    ...(id === undefined ? [] : [{ sql: 'row.resource_id = :resourceId', parameters: { resourceId: id } }]),
  ];
}

function toFlowStatView(stat: FlowStat): FlowStatView {
  return {
    id: stat.id,
    resource_type: stat.resourceType,
    resource_id: stat.resourceId,
    inlet_bytes: stat.inletBytes ?? 0,
    export_bytes: stat.exportBytes ?? 0,
    updated_at: instant(stat.updatedAt),
  };
}

function toRequestIpView(row: RequestIp): RequestIpView {
  return {
    id: row.id,
    resource_type: row.resourceType,
    resource_id: row.resourceId,
    ip: row.ip,
    hit_count: row.hitCount ?? 0,
    last_seen_at: instant(row.lastSeenAt),
  };
}
