import { createSecretBox } from '@gatehouse/persistence';
import type { ControlKey } from '@gatehouse/net';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { kernelChannelKey } from './common/kernel-channel.js';
import { KERNEL_CHANNEL_KEY, SECRET_BOX } from './secret-box.token.js';
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
        { provide: KERNEL_CHANNEL_KEY, useFactory: () => channelKeyOf(secretKeys) },
        { provide: SECRET_BOX, useFactory: () => createSecretBox(secretKeys) },
      ],
      exports: [ProxyGatewaySettings, SECRET_BOX, KERNEL_CHANNEL_KEY],
    };
  }
}

/** The newest: the kernel knows the older ones as well. */
function channelKeyOf([newest]: readonly Buffer[]): ControlKey {
  if (!newest) throw new RangeError('There is no secret key.');
  return kernelChannelKey(newest);
}
