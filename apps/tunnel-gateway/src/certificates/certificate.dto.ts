import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { PageQuery, QueryId } from '../wire/page-query.js';

const CERTIFICATE_SOURCES = ['file', 'upload', 'acme'] as const;

export class CertificateQuery extends PageQuery {
  @QueryId()
  client_id?: number;

  @IsOptional()
  @IsIn(CERTIFICATE_SOURCES)
  source?: (typeof CERTIFICATE_SOURCES)[number];
}

export class CertificateBody {
  /** The host's certificate and its intermediates, PEM, in any order. */
  @IsString()
  @MaxLength(131_072)
  certificate: string;

  /** Its key, PEM, without a password. It is sealed, and never returned. */
  @IsString()
  @MaxLength(32_768)
  key: string;
}
