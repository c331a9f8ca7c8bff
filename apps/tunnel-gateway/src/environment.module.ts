import { createSecretBox, loadSecretKeys } from '@gatehouse/persistence';
import { Module, type DynamicModule } from '@nestjs/common';
import { SECRET_BOX } from './secret-box.token.js';
import { TunnelGatewaySettings } from './settings.js';

/** Gives every module the settings and the box that seals secrets. */
@Module({})
export class EnvironmentModule {
  static forRoot(settings: Readonly<TunnelGatewaySettings>): DynamicModule {
    const { home, secretKey: envValue } = settings;
    return {
      module: EnvironmentModule,
      global: true,
      providers: [
        { provide: TunnelGatewaySettings, useValue: settings },
        { provide: SECRET_BOX, useFactory: () => createSecretBox(loadSecretKeys({ home, envValue })) },
      ],
      exports: [TunnelGatewaySettings, SECRET_BOX],
    };
  }
}
