import type { TunnelUserView } from '@gatehouse/contracts';
import { flag, instant } from '../wire/view-parts.js';
import type { User } from '../data/user.entity.js';

/** A user in the REST API. `totp`: whether logins need a second factor. */
export function toUserView(user: User, totp: boolean): TunnelUserView {
  return {
    id: user.id,
    username: user.username,
    role: user.role,
    status: flag(user.status),
    totp,
    created_at: instant(user.createdAt),
    updated_at: instant(user.updatedAt),
  };
}
