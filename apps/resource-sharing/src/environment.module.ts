import { Module, type DynamicModule } from '@nestjs/common';
import { ResourceSharingSettings } from './settings.js';

/** Gives every module the settings. */
@Module({})
export class EnvironmentModule {
  static forRoot(settings: Readonly<ResourceSharingSettings>): DynamicModule {
    return {
      module: EnvironmentModule,
      global: true,
      providers: [{ provide: ResourceSharingSettings, useValue: settings }],
      exports: [ResourceSharingSettings],
    };
  }
}
