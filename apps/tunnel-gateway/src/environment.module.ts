import { Module, type DynamicModule } from '@nestjs/common';
import { TunnelGatewaySettings } from './settings.js';

/** Gives every module the settings. */
@Module({})
export class EnvironmentModule {
  static forRoot(settings: Readonly<TunnelGatewaySettings>): DynamicModule {
    return {
      module: EnvironmentModule,
      global: true,
      providers: [{ provide: TunnelGatewaySettings, useValue: settings }],
      exports: [TunnelGatewaySettings],
    };
  }
}
