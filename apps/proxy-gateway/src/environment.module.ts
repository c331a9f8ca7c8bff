import { createSecretBox } from '@gatehouse/persistence';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { SECRET_BOX } from './secret-box.token.js';
import { ProxyGatewaySettings } from './settings.js';

/** Gives every module the settings and the box that seals secrets. */
@Module({})
export class EnvironmentModule {
  static forRoot(settings: Readonly<ProxyGatewaySettings>, secretKeys: readonly Buffer[]): DynamicModule {
    return {
      module: EnvironmentModule,
      global: true,
      providers: [
        { provide: ProxyGatewaySettings, useValue: settings },
        { provide: SECRET_BOX, useFactory: () => createSecretBox(secretKeys) },
      ],
      exports: [ProxyGatewaySettings, SECRET_BOX],
    };
  }
}
