import { loadSettings, ServiceSettings, Variable } from '@gatehouse/platform';
import type { Environment } from '@gatehouse/platform';
import { IsBoolean, IsInt, Max, Min } from 'class-validator';

/** Everything the service reads from its environment, once, at boot. */
export class ProxyGatewaySettings extends ServiceSettings {
  @Variable('PROXY_GATEWAY_PORT', { kind: 'integer', expected: 'a port from 0 to 65535' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  port = 8080;

  @Variable('PROXY_KERNEL_PORT', { kind: 'integer', expected: 'a port from 0 to 65535' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  kernelPort = 7890;

  @Variable('PROXY_GATEWAY_ALLOW_OPEN', { kind: 'boolean', expected: 'true or false' })
  @IsBoolean()
  allowOpen = false;
}

/** @throws SettingsError naming every bad, missing and unknown variable. */
export function readSettings(env: Environment = process.env): Readonly<ProxyGatewaySettings> {
  return loadSettings(ProxyGatewaySettings, env);
}
