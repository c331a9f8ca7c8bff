import { IsBoolean } from 'class-validator';
import { Omittable, Nullable } from '../wire/omittable.js';
import { PageQuery, QueryId, QueryInteger } from '../wire/page-query.js';
import { Flag, IsInstant, Line, RowId, Whole } from '../wire/text-fields.js';

export class ClientQuery extends PageQuery {
  @QueryInteger({ min: 0, max: 1 })
  status?: number;

  @QueryId()
  owner_user_id?: number;
}

export class ConnectionQuery {
  @QueryInteger({ min: 1, max: 200 })
  limit = 50;
}

class ClientFields {
  /** KiB a second, both directions together; 0: no limit. */
  @Omittable()
  @Whole(0)
  rate_limit?: number;

  /** Connections at a time; 0: no limit. */
  @Omittable()
  @Whole(0)
  max_conn?: number;

  /** From then on as if disabled; null: never. */
  @Nullable()
  @IsInstant()
  expire_at?: string | null;

  /** 1 enabled, 0 disabled. */
  @Omittable()
  @Flag()
  status?: number;

  /** Whether data channels are TLS. */
  @Omittable()
  @IsBoolean()
  encrypt?: boolean;

  /** Only administrators give clients to others. */
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
