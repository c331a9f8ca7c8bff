import { IgnoresUnknownFields } from '@gatehouse/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** RFC 6750 section 2.2: instead of the header. */
@IgnoresUnknownFields()
export class UserInfoBody {
  @ApiPropertyOptional({ type: String, description: 'Instead of the header' })
  access_token?: string;
}

/** OpenID Connect Core section 5.1. */
export class UserInfoView {
  @ApiProperty({ type: String, description: 'Number of the account; `id` of `GET /api/open/me`' })
  sub: string;
  @ApiPropertyOptional({ type: String, description: 'With `profile`' })
  name?: string;
  @ApiPropertyOptional({ type: String, description: 'With `profile`; users can change it' })
  preferred_username?: string;
  @ApiPropertyOptional({ type: String, description: 'With `profile`' })
  picture?: string;
  @ApiPropertyOptional({ type: String, description: 'With `profile`, if the user has chosen a language' })
  locale?: string;
  @ApiPropertyOptional({ type: 'integer', description: 'With `profile`: seconds since 1970' })
  updated_at?: number;
  @ApiPropertyOptional({ type: String, description: 'With `email`, if the user has given one' })
  email?: string;
  @ApiPropertyOptional({ type: Boolean, description: 'With `email`: whether the user has shown that it is theirs' })
  email_verified?: boolean;
}

/** RFC 7517 section 5. */
export class JwksView {
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  keys: readonly object[];
}
