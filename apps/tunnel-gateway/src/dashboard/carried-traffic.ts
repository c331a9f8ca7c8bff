import type { Actor } from '@gatehouse/auth';
import type { DashboardSeries, TopResource, TopVisitor } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import type { Host } from '../data/host.entity.js';
import { seesAll, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { readOptions } from '../data/row-options.js';
import { BUCKET_KINDS, bucketRange } from '../traffic/bucket.js';
import { SeriesReader } from '../traffic/flow-series.js';
import { ADDRESS_SORTS } from '../traffic/traffic.dto.js';
import { TunnelOptions, type Tunnel } from '../data/tunnel.entity.js';
import { instant } from '../wire/view-parts.js';

const SHOWN = 10;

const CARRIED = ['inlet_bytes', 'export_bytes', 'connections'] as const;
type Carried = Record<(typeof CARRIED)[number], number>;

/** Traffic over time, with the top visitors and resources. */
@Injectable()
export class CarriedTraffic {
  constructor(
    private readonly owned: OwnedRows,
    private readonly series: SeriesReader,
  ) {}

  /** Of the whole gateway, or of one user's clients together. */
  async byTime(actor: Actor, now: number): Promise<DashboardSeries> {
    const { kind, id } = togetherOf(actor);
    return {
      minute: await this.series.points(kind, id, 'minute', bucketRange('minute', {}, now)),
      hour: await this.series.points(kind, id, 'hour', bucketRange('hour', {}, now)),
      day: await this.series.points(kind, id, 'day', bucketRange('day', {}, now)),
    };
  }

  async tunnels(actor: Actor, now: number): Promise<TopResource[]> {
    const found = await this.owned.tunnels(actor).ranked(carriedBy('tunnel', now), CARRIED, SHOWN);
    const ids = found.map(({ row }) => row.id);
    const options = await readOptions(this.owned.options, TunnelOptions, 'tunnelId', ids);
    return found.map(({ row, ...carried }) =>
      toTop(row, nameOfTunnel(row, options.get(row.id)?.portCount ?? 1), carried),
    );
  }

  async hosts(actor: Actor, now: number): Promise<TopResource[]> {
    const found = await this.owned.hosts(actor).ranked(carriedBy('host', now), CARRIED, SHOWN);
    return found.map(({ row, ...carried }) => toTop(row, nameOfHost(row), carried));
  }

  /** Of the whole gateway, or of one user's clients together. */
  async visitors(actor: Actor): Promise<TopVisitor[]> {
    const parameters = { ...togetherOf(actor) };
    const together = { sql: 'row.resource_type = :kind AND row.resource_id = :id', parameters };
    const { items } = await this.owned
      .requestIps(actor)
      .page({ limit: SHOWN, sort: '-hits' }, [together], ADDRESS_SORTS);
    return items.map(({ ip, hitCount, lastSeenAt }) => {
      return { ip, hit_count: hitCount ?? 0, last_seen_at: instant(lastSeenAt) };
    });
  }
}

/** The whole gateway, or one user's clients. */
function togetherOf(actor: Actor): { kind: 'global' | 'user'; id: number } {
  return seesAll(actor) ? { kind: 'global', id: 0 } : { kind: 'user', id: actor.userId ?? 0 };
}

function carriedBy(kind: 'tunnel' | 'host', now: number): Condition {
  const { table, ms } = BUCKET_KINDS.day;
  // One or two rows per resource: by the hour there would be hundreds of thousands.
  const since = new Date(Math.floor(now / ms) * ms - ms);
  return {
    sql: `SELECT f.resource_id AS id, sum(f.inlet_bytes + f.export_bytes) AS place, sum(f.inlet_bytes) AS inlet_bytes,
      sum(f.export_bytes) AS export_bytes, sum(f.connections) AS connections
      FROM ${table} f WHERE f.resource_type = :kind AND f.starts_at >= :since GROUP BY f.resource_id`,
    parameters: { kind, since },
  };
}

function toTop({ id, clientId }: Tunnel | Host, name: string, carried: Carried): TopResource {
  const { inlet_bytes, export_bytes, connections } = carried;
  return { id, client_id: clientId, name, inlet_bytes, export_bytes, connections };
}

function nameOfTunnel({ name, mode, listenPort: first }: Tunnel, ports: number): string {
  if (name !== null) return name;
  if (first === 0) return mode;
  return ports > 1 ? `${mode} ${first}-${first + ports - 1}` : `${mode} ${first}`;
}

function nameOfHost({ host, location }: Host): string {
  return location === null || location === '/' ? host : `${host}${location}`;
}
