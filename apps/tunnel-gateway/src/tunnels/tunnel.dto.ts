import { MAX_RANGE_PORTS, TUNNEL_MODES, type TunnelMode } from '@gatehouse/tunnel-kernel';
import { IsBoolean, IsIn, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { QuotaFields } from '../quotas/quota.dto.js';
import { byNumber, byText, SortedBy, TIMES } from '../data/sort-keys.js';
import { Nullable, Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId, QueryInteger, SearchText } from '../wire/page-query.js';
import { Aliases, Flag, Line, RowId, Whole } from '../wire/text-fields.js';

const MODE_ALIASES = { httpproxy: 'http_proxy', http: 'http_proxy', mixproxy: 'mix_proxy', mixed: 'mix_proxy' };

export const TUNNEL_SORTS = {
  name: byText('row.name'),
  client_id: byNumber('row.client_id'),
  mode: byText('row.mode'),
  listen_port: byNumber('row.listen_port'),
  status: byNumber('row.status'),
  run_status: byNumber('row.run_status'),
  inlet_flow: byNumber('row.inlet_flow'),
  export_flow: byNumber('row.export_flow'),
  ...TIMES,
};

export class TunnelQuery extends PageQuery {
  /** A part of the name or the targets, or the port. */
  @SearchText()
  q?: string;

  @SortedBy(TUNNEL_SORTS)
  sort = 'id';

  /** Also tunnels whose range contains it. */
  @QueryInteger({ min: 0, max: 65_535 })
  listen_port?: number;

  @QueryId()
  client_id?: number;

  @QueryInteger({ min: 0, max: 1 })
  status?: number;

  @QueryInteger({ min: 0, max: 3 })
  run_status?: number;

  @IsOptional()
  @Aliases(MODE_ALIASES)
  @IsIn(TUNNEL_MODES)
  mode?: TunnelMode;
}

class TunnelFields extends QuotaFields {
  /** Null: no name. */
  @Nullable()
  @Line(128)
  name?: string | null;

  /** An address of the gateway, or `0.0.0.0` or `::` for all. */
  @Omittable()
  @IsString()
  @MaxLength(45)
  listen_ip?: string;

  /** The first of several. 0: any free ports of the gateway's range. */
  @Omittable()
  @Whole(0, 65_535)
  listen_port?: number;

  /** How many ports in a row, from `listen_port` on; more than 1 in modes `tcp` and `udp` only. */
  @Omittable()
  @Whole(1, MAX_RANGE_PORTS)
  port_count?: number;

  /**
   * `host:port`, separated by commas, each with `#weight=N`. With several ports, `host:7000-7010` maps the first port to
   * the first one, and so on; `host:7000` gets all of them. In proxy modes the allowed destinations; in mode `file` a
   * directory such as `file:///srv/www?ro=1`.
   */
  @Omittable()
  @IsString()
  @MaxLength(8_192)
  @Matches(/^[^\0]*$/, { message: 'target_addr must not contain NUL characters' })
  target_addr?: string;

  /** 1 enabled, 0 disabled. */
  @Omittable()
  @Flag()
  status?: number;

  /** KiB per second, both directions together, beside the limit of its client; 0: no limit of its own. */
  @Omittable()
  @Whole(0)
  rate_limit?: number;

  /** Version of the PROXY protocol header that targets get; 0: none. */
  @Omittable()
  @Whole(0, 2)
  proxy_protocol?: 0 | 1 | 2;

  /** Visitors connect through a proxy that names them; only trusted proxies are believed. */
  @Omittable()
  @IsBoolean()
  accept_proxy_protocol?: boolean;
}

export class TunnelChanges extends TunnelFields {
  @Omittable()
  @Aliases(MODE_ALIASES)
  @IsIn(TUNNEL_MODES)
  mode?: TunnelMode;
}

export class NewTunnelBody extends TunnelFields {
  @RowId()
  client_id: number;

  @Aliases(MODE_ALIASES)
  @IsIn(TUNNEL_MODES)
  mode: TunnelMode;
}
