import { bilingual } from '@gatehouse/i18n';
import { ServiceSettings, Variable } from '@gatehouse/platform';
import { ArrayNotEmpty, IsIn, IsInt, IsOptional, IsUrl, Matches, Max, Min, ValidateIf } from 'class-validator';

export const DNS_PROVIDERS = ['rfc2136', 'cloudflare'] as const;
export type DnsProviderName = (typeof DNS_PROVIDERS)[number];

const ifUpdates = ({ acmeDnsProvider }: AcmeDnsSettings): boolean => acmeDnsProvider === 'rfc2136';
const ifCloudflare = ({ acmeDnsProvider }: AcmeDnsSettings): boolean => acmeDnsProvider === 'cloudflare';

/** Where TXT records of DNS-01 are published. */
export abstract class AcmeDnsSettings extends ServiceSettings {
  /** Without it, there are no certificates for `*.name`, and no challenge `dns-01`. */
  @Variable('ACME_DNS_PROVIDER', { expected: bilingual('rfc2136 or cloudflare', 'rfc2136 或 cloudflare') })
  @IsOptional()
  @IsIn(DNS_PROVIDERS)
  acmeDnsProvider?: DnsProviderName;

  /** Seconds between publishing a record and telling the authority: secondary name servers need them. */
  @Variable('ACME_DNS_WAIT_SECONDS', {
    kind: 'integer',
    expected: bilingual('a number of seconds from 0 to 600', '0 到 600 的秒数'),
  })
  @IsInt()
  @Min(0)
  @Max(600)
  acmeDnsWaitSeconds = 10;

  /** `rfc2136`: the name server that takes updates. */
  @Variable('ACME_DNS_SERVER', {
    expected: bilingual(
      'host:port of a name server, such as 192.0.2.53:53',
      '域名服务器的 主机:端口，例如 192.0.2.53:53',
    ),
  })
  @ValidateIf(ifUpdates)
  @Matches(/^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?$/i)
  acmeDnsServer?: string;

  /** `rfc2136`: the zones in which records may be changed. */
  @Variable('ACME_DNS_ZONES', {
    kind: 'list',
    expected: bilingual('zones such as example.org, separated by commas', '以逗号分隔的区域，例如 example.org'),
  })
  @ValidateIf(ifUpdates)
  @ArrayNotEmpty()
  @Matches(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/, { each: true })
  acmeDnsZones: readonly string[] = [];

  /** `rfc2136`: the key that signs updates (TSIG), of algorithm hmac-sha256. */
  @Variable('ACME_DNS_TSIG_NAME', {
    expected: bilingual('the name of a key, such as gatehouse-key', '密钥的名称，例如 gatehouse-key'),
  })
  @ValidateIf(ifUpdates)
  @Matches(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/i)
  acmeDnsTsigName?: string;

  @Variable('ACME_DNS_TSIG_SECRET', {
    expected: bilingual('a key of at least 16 bytes in base64', 'base64 格式的密钥，至少 16 字节'),
    secret: true,
  })
  @ValidateIf(ifUpdates)
  @Matches(/^[A-Za-z0-9+/]{22,}={0,2}$/)
  acmeDnsTsigSecret?: string;

  /** `cloudflare`: an API token with the permission DNS:Edit for the zones. */
  @Variable('ACME_DNS_CLOUDFLARE_TOKEN', {
    expected: bilingual('an API token of Cloudflare', 'Cloudflare 的 API 令牌'),
    secret: true,
  })
  @ValidateIf(ifCloudflare)
  @Matches(/^[\x21-\x7e]{20,512}$/)
  acmeDnsCloudflareToken?: string;

  @Variable('ACME_DNS_CLOUDFLARE_URL', {
    expected: bilingual(
      'an address such as https://api.cloudflare.com/client/v4',
      '网址，例如 https://api.cloudflare.com/client/v4',
    ),
  })
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  acmeDnsCloudflareUrl = 'https://api.cloudflare.com/client/v4';

  get acmeDnsAddress(): { host: string; port: number } {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(this.acmeDnsServer ?? '') ?? [];
    return { host: bracketed ?? plain ?? '', port: Number(port ?? 53) };
  }
}
