import { IsBoolean, IsIn, IsOptional } from 'class-validator';
import { QuotaFields } from '../quotas/quota.dto.js';
import { byNumber, byText, SortedBy, TIMES } from '../data/sort-keys.js';
import { Omittable } from '../wire/omittable.js';
import { PageQuery, QueryId, QueryInteger, SearchText } from '../wire/page-query.js';
import { Flag } from '../wire/text-fields.js';
import { ChosenPassword } from './password-rules.js';
import { UserName } from './user-name.js';
import { USER_ROLES, type UserRole } from '../data/user.entity.js';

export const USER_SORT = { username: byText('row.username'), status: byNumber('row.status'), ...TIMES };

export class UserQuery extends PageQuery {
  @IsOptional()
  @IsIn(USER_ROLES)
  role?: UserRole;

  @QueryInteger({ min: 0, max: 1 })
  status?: number;

  /** A part of the name. */
  @SearchText()
  q?: string;

  @SortedBy(USER_SORT)
  sort?: string;
}

class UserFields extends QuotaFields {
  @Omittable()
  @IsIn(USER_ROLES)
  role?: UserRole;

  /** 1 enabled, 0 disabled: the user's logins, keys, agents and their visitors are refused. */
  @Omittable()
  @Flag()
  status?: number;
}

export class UserChanges extends UserFields {
  @Omittable()
  @UserName()
  username?: string;

  /** Ends the user's logins and revokes their keys. */
  @Omittable()
  @ChosenPassword()
  password?: string;

  /** Removes a lost second factor. */
  @Omittable()
  @IsBoolean()
  reset_totp?: boolean;
}

export class NewUserBody extends UserFields {
  @UserName()
  username: string;

  @ChosenPassword()
  password: string;
}

export class UserRemovalQuery {
  /** Who gets the clients; without it the user may have none. */
  @QueryId()
  transfer_to?: number;
}
