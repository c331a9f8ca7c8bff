import type { ErrorCode } from '@gatehouse/contracts';
import type { OpenScope } from '../credentials/caller.js';
import type { QuotaProfile } from '../quota/quota-profiles.js';

/** The subject of a limit. */
export type LimitScope = 'global' | 'app' | 'user';

export type LimitCode = Extract<ErrorCode, `${string}_EXCEEDED` | 'OPENAPI_COOLDOWN'>;

/** At most `quota` requests at once, and as many more in each window. */
export interface LimitRule {
  /** Its name in the RateLimit fields. */
  readonly name: string;
  /** The key under which all replicas count. */
  readonly key: string;
  readonly code: LimitCode;
  readonly scope: LimitScope;
  readonly quota: number;
  readonly windowMs: number;
}

/** The subject of rules: `app` names an application or a personal key. */
export interface LimitedCaller {
  readonly app: string;
  readonly userId: number | null;
  readonly address: string;
  readonly group: OpenScope;
}

const MINUTE = 60_000;

/** The rules for one caller's calls to the operations of one scope, the narrowest last. */
export function rulesOf(profile: QuotaProfile, { app, userId, address, group }: LimitedCaller): LimitRule[] {
  const who = userId === null ? app : `${app}:u${userId}`;
  const rules: (LimitRule | null)[] = [
    rule(['app-burst', 'APP_BURST_LIMIT_EXCEEDED', 'app'], `b:${app}`, profile.appBurstPerSecond, 1_000),
    rule(['app', 'APP_RATE_LIMIT_EXCEEDED', 'app'], `m:${app}`, profile.appPerMinute),
    rule(['app-address', 'APP_IP_RATE_LIMIT_EXCEEDED', 'app'], `i:${app}:${address}`, profile.appAddressPerMinute),
    rule(
      ['user', 'USER_RATE_LIMIT_EXCEEDED', 'user'],
      // Over all applications, if they allow the same.
      `u:${userId ?? ''}:${profile.userPerMinute ?? ''}`,
      userId === null ? null : profile.userPerMinute,
    ),
    rule(
      [`group-${group}`, 'ENDPOINT_GROUP_RATE_LIMIT_EXCEEDED', userId === null ? 'app' : 'user'],
      `g:${group}:${who}`,
      profile.groupPerMinute[group] ?? null,
    ),
  ];
  return rules.filter((made) => made !== null);
}

function rule(
  [name, code, scope]: [string, LimitCode, LimitScope],
  key: string,
  quota: number | null,
  windowMs = MINUTE,
): LimitRule | null {
  return quota === null ? null : { name, code, scope, key, quota, windowMs };
}
