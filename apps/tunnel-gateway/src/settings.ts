import { loadSettings, ServiceSettings, Variable, type Environment } from '@gatehouse/platform';
import { IsInt, IsUrl, Max, Min } from 'class-validator';

/** Everything the service reads from its environment, once, at boot. */
export class TunnelGatewaySettings extends ServiceSettings {
  @Variable('TUNNEL_GATEWAY_PORT', { kind: 'integer', expected: 'a port from 0 to 65535' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  port = 8082;

  /** Where browsers reach the console. With https, cookies are Secure and carry the `__Host-` prefix. */
  @Variable('TUNNEL_GATEWAY_PUBLIC_URL', { expected: 'an address such as https://tunnels.example.org' })
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  publicUrl = 'http://127.0.0.1:8082';

  get secureCookies(): boolean {
    return this.publicUrl.startsWith('https:');
  }
}

/** Raises SettingsError naming every bad, missing and unknown variable. */
export function readSettings(env: Environment = process.env): Readonly<TunnelGatewaySettings> {
  return loadSettings(TunnelGatewaySettings, env);
}
