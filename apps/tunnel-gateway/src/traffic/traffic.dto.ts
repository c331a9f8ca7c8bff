import type { CountedResource } from '@gatehouse/contracts';
import { IsIn, IsIP, IsOptional } from 'class-validator';
import { byNumber, byText, byTime, SortedBy, TIMES } from '../data/sort-keys.js';
import { PageQuery, QueryId } from '../wire/page-query.js';
import { IsInstant } from '../wire/text-fields.js';
import { BUCKETS, type Bucket } from './bucket.js';
import { COUNTED_RESOURCES } from '../data/traffic.entity.js';

class CountedQuery extends PageQuery {
  @IsOptional()
  @IsIn(COUNTED_RESOURCES)
  resource_type?: CountedResource;

  @QueryId(0)
  resource_id?: number;
}

export const FLOW_STAT_SORTS = {
  inlet_bytes: byNumber('row.inlet_bytes'),
  export_bytes: byNumber('row.export_bytes'),
  updated_at: TIMES.updated_at,
};

export class FlowStatQuery extends CountedQuery {
  @SortedBy(FLOW_STAT_SORTS)
  sort = 'id';
}

export const ADDRESS_SORTS = {
  ip: byText('row.ip'),
  hits: byNumber('row.hit_count'),
  last_seen: byTime('row.last_seen_at'),
};

export class RequestIpQuery extends CountedQuery {
  @IsOptional()
  @IsIP()
  ip?: string;

  @SortedBy(ADDRESS_SORTS)
  sort = 'id';
}

export class SeriesQuery {
  @IsIn(COUNTED_RESOURCES)
  resource_type: CountedResource;

  /** 0 for `global`. */
  @QueryId(0)
  resource_id = 0;

  @IsIn(BUCKETS)
  bucket: Bucket;

  /** Default: before `to`, by the usual period of this kind of bucket. */
  @IsOptional()
  @IsInstant()
  from?: string;

  /** Exclusive, unless it lies within a bucket. Default: now. */
  @IsOptional()
  @IsInstant()
  to?: string;
}
