import { SCOPES, type Scope } from '@gatehouse/auth';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn } from 'class-validator';
import { ProvesPassword } from '../auth/proof.dto.js';
import { byText, byTime, SortedBy } from '../data/sort-keys.js';
import { Nullable, Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId } from '../wire/page-query.js';
import { IsInstant, Line } from '../wire/text-fields.js';

export const API_KEY_SORT = { name: byText('row.name'), created_at: byTime('row.created_at') };

export class ApiKeyQuery extends PageQuery {
  @QueryId()
  user_id?: number;

  @SortedBy(API_KEY_SORT)
  sort?: string;
}

export class NewApiKeyBody extends ProvesPassword {
  @Line(100)
  name: string;

  /** Each scope includes the one before. Absent: `read`. */
  @Omittable()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(SCOPES.length)
  @IsIn(SCOPES, { each: true })
  scopes?: Scope[];

  /** Null or absent: never. */
  @Nullable()
  @IsInstant()
  expires_at?: string | null;
}
