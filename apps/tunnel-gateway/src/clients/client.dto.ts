import { IsBoolean } from 'class-validator';
import { QuotaFields } from '../quotas/quota.dto.js';
import { byNumber, byText, byTime, SortedBy, TIMES } from '../data/sort-keys.js';
import { Omittable, Nullable } from '../wire/omittable.js';
import { PageQuery, QueryId, QueryInteger, SearchText } from '../wire/page-query.js';
import { Flag, IsInstant, Line, RowId, Whole } from '../wire/text-fields.js';

export const CLIENT_SORTS = {
  name: byText('row.name'),
  status: byNumber('row.status'),
  owner_user_id: byNumber('row.owner_user_id'),
  expire_at: byTime('row.expire_at'),
  inlet_flow: byNumber('row.inlet_flow'),
  export_flow: byNumber('row.export_flow'),
  ...TIMES,
};

export class ClientQuery extends PageQuery {
  /** A part of the name. */
  @SearchText()
  q?: string;

  @SortedBy(CLIENT_SORTS)
  sort = 'id';

  @QueryInteger({ min: 0, max: 1 })
  status?: number;

  @QueryId()
  owner_user_id?: number;
}

export class ConnectionQuery {
  @QueryInteger({ min: 1, max: 200 })
  limit = 50;
}

const MAX_GRACE_SECONDS = 30 * 24 * 3600;

export class KeyRotation {
  /** How long the former key stays valid, up to 30 days; 0: not at all. */
  @Omittable()
  @Whole(0, MAX_GRACE_SECONDS)
  grace_seconds?: number;
}

const MAX_LEASE_SECONDS = 24 * 3600;

export class LeaseBody {
  /** How long the client stays if the lease is not renewed, up to a day. */
  @Whole(1, MAX_LEASE_SECONDS)
  seconds: number;
}

class ClientFields extends QuotaFields {
  /** KiB per second, both directions together; 0: no limit. */
  @Omittable()
  @Whole(0)
  rate_limit?: number;

  /** Concurrent connections; 0: no limit. */
  @Omittable()
  @Whole(0)
  max_conn?: number;

  /** The client counts as disabled from then on; null: never. */
  @Nullable()
  @IsInstant()
  expire_at?: string | null;

  /** 1 enabled, 0 disabled. */
  @Omittable()
  @Flag()
  status?: number;

  /** Whether data channels are encrypted. */
  @Omittable()
  @IsBoolean()
  encrypt?: boolean;

  /** Only administrators may choose another owner. */
  @Omittable()
  @RowId()
  owner_user_id?: number;
}

export class ClientChanges extends ClientFields {
  @Omittable()
  @Line(128)
  name?: string;
}

export class NewClientBody extends ClientFields {
  @Line(128)
  name: string;
}
