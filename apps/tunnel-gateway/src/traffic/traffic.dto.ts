import type { CountedResource } from '@gatehouse/contracts';
import { IsIn, IsIP, IsOptional } from 'class-validator';
import { PageQuery, QueryId } from '../wire/page-query.js';
import { IsInstant } from '../wire/text-fields.js';
import { BUCKETS, type Bucket } from './bucket.js';
import { COUNTED_RESOURCES } from './traffic.entity.js';

export class FlowStatQuery extends PageQuery {
  @IsOptional()
  @IsIn(COUNTED_RESOURCES)
  resource_type?: CountedResource;

  @QueryId(0)
  resource_id?: number;
}

export const ADDRESS_SORTS = ['id', 'hits', 'last_seen'] as const;

export class RequestIpQuery extends FlowStatQuery {
  @IsOptional()
  @IsIP()
  ip?: string;

  /** `hits` and `last_seen`: the largest first. */
  @IsOptional()
  @IsIn(ADDRESS_SORTS)
  sort: (typeof ADDRESS_SORTS)[number] = 'id';
}

export class SeriesQuery {
  @IsIn(COUNTED_RESOURCES)
  resource_type: CountedResource;

  /** 0 for `global`. */
  @QueryId(0)
  resource_id = 0;

  @IsIn(BUCKETS)
  bucket: Bucket;

  /** Default: as long before `to` as this kind of bucket is usually looked at. */
  @IsOptional()
  @IsInstant()
  from?: string;

  /** Not in the answer any more unless it is within a bucket. Default: now. */
  @IsOptional()
  @IsInstant()
  to?: string;
}
