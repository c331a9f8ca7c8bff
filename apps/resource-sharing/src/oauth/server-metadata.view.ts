import { ApiProperty } from '@nestjs/swagger';

/** RFC 8414 section 2 and OpenID Connect Discovery section 3, with the member of RFC 9207 section 3. */
export class ServerMetadataView {
  @ApiProperty({ type: String })
  issuer: string;
  @ApiProperty({ type: String })
  authorization_endpoint: string;
  @ApiProperty({ type: String })
  token_endpoint: string;
  @ApiProperty({ type: String })
  device_authorization_endpoint: string;
  @ApiProperty({ type: String })
  revocation_endpoint: string;
  @ApiProperty({ type: String })
  introspection_endpoint: string;
  @ApiProperty({ type: String })
  userinfo_endpoint: string;
  @ApiProperty({ type: String })
  jwks_uri: string;
  @ApiProperty({ type: String, isArray: true })
  scopes_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  response_types_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  response_modes_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  grant_types_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  subject_types_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  id_token_signing_alg_values_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  claims_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  claim_types_supported: readonly string[];
  @ApiProperty({ type: Boolean })
  claims_parameter_supported: boolean;
  @ApiProperty({ type: Boolean })
  request_parameter_supported: boolean;
  @ApiProperty({ type: Boolean })
  request_uri_parameter_supported: boolean;
  @ApiProperty({ type: String, isArray: true })
  prompt_values_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  ui_locales_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  token_endpoint_auth_methods_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  revocation_endpoint_auth_methods_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  introspection_endpoint_auth_methods_supported: readonly string[];
  @ApiProperty({ type: String, isArray: true })
  code_challenge_methods_supported: readonly string[];
  @ApiProperty({ type: Boolean })
  authorization_response_iss_parameter_supported: boolean;
  @ApiProperty({ type: String })
  service_documentation: string;
}
