import { createSecretBox, loadSecretKeys, SECRET_BOX } from '@gatehouse/persistence';
import type { ServiceSettings } from '@gatehouse/platform';
import { Module, type DynamicModule, type Type } from '@nestjs/common';

/** Gives every module of a service its settings and the box that seals its secrets. */
@Module({})
export class EnvironmentModule {
  static forRoot<S extends ServiceSettings>(type: Type<S>, settings: Readonly<S>): DynamicModule {
    const { home, secretKey: envValue } = settings;
    return {
      module: EnvironmentModule,
      global: true,
      providers: [
        { provide: type, useValue: settings },
        { provide: SECRET_BOX, useFactory: () => createSecretBox(loadSecretKeys({ home, envValue })) },
      ],
      exports: [type, SECRET_BOX],
    };
  }
}
