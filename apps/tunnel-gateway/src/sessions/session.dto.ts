import { byTime, SortedBy } from '../data/sort-keys.js';
import { PageQuery, QueryId } from '../wire/page-query.js';

export const SESSION_SORT = { created_at: byTime('row.created_at'), expires_at: byTime('row.expires_at') };

export class SessionQuery extends PageQuery {
  @QueryId()
  user_id?: number;

  @SortedBy(SESSION_SORT)
  sort?: string;
}
