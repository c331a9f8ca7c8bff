import { bilingual } from '@gatehouse/i18n';
import { loadSettings, Port, ServiceSettings, Variable, type Environment } from '@gatehouse/platform';
import { IsEmail, IsInt, IsOptional, IsTimeZone, IsUrl, Matches, Max, Min } from 'class-validator';

/** Everything that the service reads from its environment, once at startup. */
export class ResourceSharingSettings extends ServiceSettings {
  @Port('RESOURCE_SHARING_PORT')
  port = 8081;

  @IsOptional()
  @Port('RESOURCE_SHARING_METRICS_PORT')
  override readonly metricsPort?: number;

  @Variable('RESOURCE_SHARING_PUBLIC_URL', {
    expected: bilingual('an address such as https://share.example.org', '网址，例如 https://share.example.org'),
  })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  givenPublicUrl?: string;

  /** Time zone of the service's days and of the times in its lists. */
  @Variable('RESOURCE_SHARING_TIME_ZONE', {
    expected: bilingual('a time zone such as Asia/Shanghai', '时区，例如 Asia/Shanghai'),
  })
  @IsTimeZone()
  // PostgreSQL reads an offset such as +08:00 with the opposite sign.
  @Matches(/^[A-Za-z]/)
  timeZone = 'Asia/Shanghai';

  /** Maximum price of a share in points. */
  @Variable('SHARE_MAX_UNLOCK_POINTS', {
    kind: 'integer',
    expected: bilingual('points from 1 to 1000000', '1 到 1000000 的积分'),
  })
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  shareMaxUnlockPoints = 1000;

  /** Suggested price of a share of a known kind of link; 0: free. */
  @Variable('SHARE_DEFAULT_UNLOCK_POINTS', {
    kind: 'integer',
    expected: bilingual('points from 0 to 1000000', '0 到 1000000 的积分'),
  })
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  shareDefaultUnlockPoints = 10;

  /** Points that a sharer pays for withdrawing a share, limited to the balance. */
  @Variable('SHARE_DELETION_FEE', {
    kind: 'integer',
    expected: bilingual('points from 0 to 1000000', '0 到 1000000 的积分'),
  })
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  shareDeletionFee = 1;

  /** Shares that a user with lifetime Premium unlocks without points each week; 0: any number. */
  @Variable('WEEKLY_FREE_LIMIT', {
    kind: 'integer',
    expected: bilingual('unlocks a week from 0 (no limit) to 10000', '每周的解锁次数，0（不限制）到 10000'),
  })
  @IsInt()
  @Min(0)
  @Max(10_000)
  weeklyFreeLimit = 50;

  /** Maximum number of unused free unlocks of other weeks; 0: none are kept. */
  @Variable('WEEKLY_FREE_BONUS_MAX', {
    kind: 'integer',
    expected: bilingual('unlocks from 0 to 100000', '0 到 100000 次解锁'),
  })
  @IsInt()
  @Min(0)
  @Max(100_000)
  weeklyFreeBonusMax = 100;

  /** Accounts that can be registered from one address in an hour; 0: registration is closed. */
  @Variable('SITE_REGISTRATIONS_PER_HOUR', {
    kind: 'integer',
    expected: bilingual('accounts an hour from 0 (none) to 100000', '每小时的账号数，0（关闭注册）到 100000'),
  })
  @IsInt()
  @Min(0)
  @Max(100_000)
  siteRegistrationsPerHour = 10;

  /** Without it, mails are kept for the administrator to read. */
  @Variable('SMTP_URL', {
    expected: bilingual(
      'smtp://[user:password@]host[:port] or smtps://…',
      'smtp://[用户:密码@]主机[:端口] 或 smtps://…',
    ),
    secret: true,
  })
  @IsOptional()
  @Matches(/^smtps?:\/\/[^\s]+$/)
  smtpUrl?: string;

  @Variable('MAIL_SENDER', { expected: bilingual('an email address', '电子邮箱地址') })
  @IsOptional()
  @IsEmail({ require_tld: false })
  givenMailSender?: string;

  /** The address that mails come from. */
  get mailSender(): string {
    return this.givenMailSender ?? `no-reply@${new URL(this.publicUrl).hostname}`;
  }

  /** The address at which browsers reach the service. With https, cookies are Secure and have the `__Host-` prefix. */
  get publicUrl(): string {
    return this.givenPublicUrl ?? `http://127.0.0.1:${this.port}`;
  }

  get secureCookies(): boolean {
    return this.publicUrl.startsWith('https:');
  }

  /**
   * Whether others on the network can serve another port of the site's name: browsers also send cookies without
   * `__Host-` there. On loopback, only users of this machine can.
   */
  get cookiesAreShared(): boolean {
    if (this.secureCookies) return false;
    return !/^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(this.publicUrl).hostname);
  }
}

/** @throws SettingsError with every invalid, missing and unknown variable. */
export function readSettings(env: Environment = process.env): Readonly<ResourceSharingSettings> {
  return loadSettings(ResourceSharingSettings, env);
}
