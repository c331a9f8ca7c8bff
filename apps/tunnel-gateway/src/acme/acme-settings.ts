import { bilingual } from '@gatehouse/i18n';
import { Variable } from '@gatehouse/platform';
import {
  ArrayNotEmpty,
  IsBoolean,
  IsEmail,
  IsIn,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  ValidateIf,
} from 'class-validator';
import { CHALLENGE_TYPES, type ChallengeType } from './acme-order.js';
import { AcmeDnsSettings } from './dns/dns-settings.js';

/** How certificates of hosts are ordered. */
export abstract class AcmeSettings extends AcmeDnsSettings {
  /** Where certificates for hosts are ordered. Default: Let's Encrypt; outside production, its staging environment. */
  @Variable('ACME_DIRECTORY_URL', {
    expected: bilingual(
      'an address such as https://acme-v02.api.letsencrypt.org/directory',
      '网址，例如 https://acme-v02.api.letsencrypt.org/directory',
    ),
  })
  @IsOptional()
  @IsUrl({ protocols: ['https'], require_protocol: true, require_tld: false })
  acmeDirectory?: string;

  /** E-mail addresses that the authority may write to. */
  @Variable('ACME_CONTACT', {
    kind: 'list',
    expected: bilingual('addresses of mail separated by commas', '以逗号分隔的电子邮箱地址'),
  })
  @IsEmail({ require_tld: false }, { each: true })
  acmeContact: readonly string[] = [];

  /** Whether the operator agrees to the authority's terms of service. Without that no certificate is ordered. */
  @Variable('ACME_AGREE_TERMS', { kind: 'boolean', expected: bilingual('true or false', 'true 或 false') })
  @IsBoolean()
  acmeAgreeTerms = false;

  /** An account that the operator already has with the authority (RFC 8555 7.3.4). */
  @Variable('ACME_EAB_KID', {
    expected: bilingual(
      'the key id of the authority, together with ACME_EAB_HMAC_KEY',
      '证书颁发机构提供的密钥 ID，与 ACME_EAB_HMAC_KEY 一起设置',
    ),
  })
  @ValidateIf(({ acmeEabHmacKey, acmeEabKid }: AcmeSettings) => (acmeEabKid ?? acmeEabHmacKey) !== undefined)
  @IsString()
  acmeEabKid?: string;

  @Variable('ACME_EAB_HMAC_KEY', {
    expected: bilingual('base64url, together with ACME_EAB_KID', 'base64url 文本，与 ACME_EAB_KID 一起设置'),
    secret: true,
  })
  @ValidateIf(({ acmeEabHmacKey, acmeEabKid }: AcmeSettings) => (acmeEabKid ?? acmeEabHmacKey) !== undefined)
  @Matches(/^[A-Za-z0-9_-]{16,}$/)
  acmeEabHmacKey?: string;

  /** Further certificate authorities that are trusted when certificates are ordered, in PEM. */
  @Variable('ACME_CA_FILE', { expected: bilingual('a file with certificates (PEM)', '证书文件（PEM）') })
  @IsOptional()
  @IsString()
  acmeCaFile?: string;

  /** How the gateway proves that it controls a name. Each attempt uses the next type. */
  @Variable('ACME_CHALLENGES', {
    kind: 'list',
    expected: bilingual(`some of ${CHALLENGE_TYPES.join(', ')}`, `${CHALLENGE_TYPES.join('、')} 中的一个或多个`),
  })
  @ArrayNotEmpty()
  @IsIn(CHALLENGE_TYPES, { each: true })
  acmeChallenges: readonly ChallengeType[] = ['http-01', 'tls-alpn-01'];

  get acmeBinding(): { kid: string; macKey: string } | null {
    const { acmeEabKid: kid, acmeEabHmacKey: macKey } = this;
    return kid === undefined || macKey === undefined ? null : { kid, macKey };
  }
}
