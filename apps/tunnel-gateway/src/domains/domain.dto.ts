import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { byText, SortedBy, TIMES } from '../data/sort-keys.js';
import { Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId, SearchText } from '../wire/page-query.js';
import { RowId } from '../wire/text-fields.js';

export const DOMAIN_SORT = { name: byText('row.name'), ...TIMES };

export class DomainQuery extends PageQuery {
  @QueryId()
  user_id?: number;

  @IsOptional()
  @IsIn(['pending', 'verified'])
  status?: 'pending' | 'verified';

  /** A part of the name. */
  @SearchText()
  q?: string;

  @SortedBy(DOMAIN_SORT)
  sort?: string;
}

export class NewDomainBody {
  /** Below a public suffix; everything below it belongs to it. */
  @IsString()
  @MaxLength(253)
  name: string;

  /** The owner, set by administrators. Default: the user of the request. */
  @Omittable()
  @RowId()
  user_id?: number;
}
