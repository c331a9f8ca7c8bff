import type { TrafficQuotaView, TunnelUserView } from '@gatehouse/contracts';
import { flag, instant } from '../wire/view-parts.js';
import type { User } from '../data/user.entity.js';

/** A user in the REST API. `totp`: whether logins need a second factor. */
export function toUserView(user: User, totp: boolean, quota: TrafficQuotaView): TunnelUserView {
  return {
    id: user.id,
    username: user.username,
    role: user.role,
    status: flag(user.status),
    totp,
    ...quota,
    created_at: instant(user.createdAt),
    updated_at: instant(user.updatedAt),
  };
}
