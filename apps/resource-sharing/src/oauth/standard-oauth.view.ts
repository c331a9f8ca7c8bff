import { IgnoresUnknownFields } from '@gatehouse/platform';
import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiDefaultResponse,
  ApiExtraModels,
  ApiOkResponse,
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
} from '@nestjs/swagger';
import { DEVICE_GRANT } from './device-exchange.js';
import { PARAMETER, TokenBody } from './open-oauth.view.js';

/** How applications identify themselves in a body (RFC 6749 section 2.3.1). */
@IgnoresUnknownFields()
export class StandardTokenBody extends TokenBody {
  @ApiProperty({ enum: ['authorization_code', 'refresh_token', DEVICE_GRANT] })
  declare grant_type: string;
  @ApiPropertyOptional({ type: String })
  client_id?: string;
  @ApiPropertyOptional({ type: String })
  client_secret?: string;
  @ApiPropertyOptional({ type: String, description: 'Scopes, separated by spaces' })
  scope?: string;
  @ApiPropertyOptional({ type: String, description: 'RFC 8707' })
  resource?: string;
  @ApiPropertyOptional({ type: String, description: 'RFC 8628' })
  device_code?: string;
}

@IgnoresUnknownFields()
export class TokenNameBody {
  @ApiProperty(PARAMETER)
  token: string;
  @ApiPropertyOptional({ type: String })
  token_type_hint?: string;
  @ApiPropertyOptional({ type: String })
  client_id?: string;
  @ApiPropertyOptional({ type: String })
  client_secret?: string;
}

/** RFC 8628 section 3.1. */
@IgnoresUnknownFields()
export class DeviceAuthorizationBody {
  @ApiPropertyOptional({ type: String })
  client_id?: string;
  @ApiPropertyOptional({ type: String })
  client_secret?: string;
  @ApiPropertyOptional({ type: String, description: 'Scopes, separated by spaces' })
  scope?: string;
}

/** RFC 8628 section 3.2. */
export class DeviceAuthorizationView {
  @ApiProperty({ type: String, description: 'For the token endpoint' })
  device_code: string;
  @ApiProperty({ type: String, description: 'What the user enters' })
  user_code: string;
  @ApiProperty({ type: String, description: 'Where the user enters it' })
  verification_uri: string;
  @ApiProperty({ type: String, description: 'The same with the code, for a QR code' })
  verification_uri_complete: string;
  @ApiProperty({ type: 'integer', description: 'Seconds' })
  expires_in: number;
  @ApiProperty({ type: 'integer', description: 'Seconds between two requests to the token endpoint' })
  interval: number;
}

/** RFC 6749 section 5.1. */
export class StandardTokenView {
  @ApiProperty({ type: String })
  access_token: string;
  @ApiProperty({ enum: ['Bearer'] })
  token_type: string;
  @ApiProperty({ type: 'integer', description: 'Seconds' })
  expires_in: number;
  @ApiProperty({ type: String })
  refresh_token: string;
  @ApiProperty({ type: 'integer', description: 'Seconds' })
  refresh_expires_in: number;
  @ApiProperty({ type: String })
  scope: string;
  @ApiPropertyOptional({ type: String, description: 'OpenID Connect: with the scope `openid`' })
  id_token?: string;
}

/** RFC 7662 section 2.2. */
export class IntrospectionView {
  @ApiProperty({ type: Boolean })
  active: boolean;
  @ApiPropertyOptional({ type: String })
  scope?: string;
  @ApiPropertyOptional({ type: String })
  client_id?: string;
  @ApiPropertyOptional({ type: String })
  sub?: string;
  @ApiPropertyOptional({ type: 'integer' })
  exp?: number;
  @ApiPropertyOptional({ type: 'integer' })
  iat?: number;
  @ApiPropertyOptional({ type: String })
  iss?: string;
  @ApiPropertyOptional({ type: String })
  aud?: string;
  @ApiPropertyOptional({ enum: ['Bearer'] })
  token_type?: string;
}

export class NothingView {}

/** RFC 6749 section 5.2. */
export class StandardErrorView {
  @ApiProperty({ type: String })
  error: string;
  @ApiProperty({ type: String })
  error_description: string;
}

/**
 * Describes an operation of the RFCs: it accepts forms and JSON and answers with a plain body; earlier failures are as
 * everywhere.
 */
export function ApiStandard(body: Type, answer: Type): MethodDecorator {
  return applyDecorators(
    ApiConsumes('application/x-www-form-urlencoded', 'application/json'),
    ApiBody({ type: body }),
    ApiStandardAnswer(answer),
  );
}

/** The same for an operation without a body. */
export function ApiStandardAnswer(answer: Type): MethodDecorator {
  const failures = [getSchemaPath(StandardErrorView), '#/components/schemas/Error'];
  return applyDecorators(
    ApiExtraModels(StandardErrorView),
    ApiOkResponse({ type: answer }),
    ApiDefaultResponse({
      description: 'Any failure',
      content: { 'application/json': { schema: { anyOf: failures.map(($ref) => ({ $ref })) } } },
    }),
  );
}
