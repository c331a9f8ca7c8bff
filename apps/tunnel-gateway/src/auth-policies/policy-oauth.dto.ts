import { ArrayMaxSize, IsArray, IsIn, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { Nullable, Omittable } from '../wire/omittable.js';
import { Line } from '../wire/text-fields.js';

const OAUTH_SERVERS = ['standard', 'resource_sharing'] as const;
export type OAuthServerKind = (typeof OAUTH_SERVERS)[number];

const MAX_PEOPLE = 256;
const PERSON = /^[^\p{Cc}\p{Cs}]{1,254}$/u;

/** This gateway as a client of an authorization server (RFC 6749), and which of its users are admitted. */
export class PolicyOAuth {
  /** The server's issuer, as in its metadata and in `iss`. */
  @IsString()
  @MaxLength(2_048)
  issuer: string;

  /**
   * `resource_sharing`: names come from its profile endpoint, which requires the scope `vip` and users with Premium.
   */
  @Omittable()
  @IsIn(OAUTH_SERVERS)
  server?: OAuthServerKind;

  @Line(256)
  client_id: string;

  /** Null: a public client. Absent: unchanged, if the server is the same. */
  @Nullable()
  @IsString()
  @MinLength(1)
  @MaxLength(1_024)
  client_secret?: string | null;

  @Nullable()
  @IsString()
  @MaxLength(512)
  @Matches(/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/, {
    message: 'scope must be names separated by blanks',
  })
  scope?: string | null;

  /** Absent together with `token_endpoint`: taken from the issuer's metadata (RFC 8414, OpenID Connect Discovery). */
  @Nullable()
  @IsString()
  @MaxLength(2_048)
  authorization_endpoint?: string | null;

  @Nullable()
  @IsString()
  @MaxLength(2_048)
  token_endpoint?: string | null;

  /** Returns the visitor's identity, OpenID Connect Core 5.3. */
  @Nullable()
  @IsString()
  @MaxLength(2_048)
  userinfo_endpoint?: string | null;

  /** Returns the visitor's identity, RFC 7662. */
  @Nullable()
  @IsString()
  @MaxLength(2_048)
  introspection_endpoint?: string | null;

  /** Admitted users by `sub`. All three lists empty: everybody who can sign in. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(MAX_PEOPLE)
  @Matches(PERSON, { each: true })
  subjects?: string[];

  /** By name; note that some servers let people choose and change their names. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(MAX_PEOPLE)
  @Matches(PERSON, { each: true })
  names?: string[];

  /** By e-mail address, which the server must have verified. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(MAX_PEOPLE)
  @Matches(/^[^\s@]{1,64}@[^\s@]{1,189}$/, { each: true, message: 'emails must be e-mail addresses' })
  emails?: string[];
}
