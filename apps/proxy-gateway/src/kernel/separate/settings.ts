import { loadSettings } from '@gatehouse/platform';
import type { Environment } from '@gatehouse/platform';
import { IsOptional } from 'class-validator';
import { ProxyGatewaySettings } from '../../settings.js';

/** The settings of a separate kernel: the service's variables except the database, which the kernel never sees. */
export class SeparateKernelSettings extends ProxyGatewaySettings {
  @IsOptional()
  override databaseUrl: string = undefined as unknown as string;
}

/** @throws SettingsError naming every bad and unknown variable. */
export function readKernelSettings(env: Environment = process.env): Readonly<SeparateKernelSettings> {
  return loadSettings(SeparateKernelSettings, env);
}
