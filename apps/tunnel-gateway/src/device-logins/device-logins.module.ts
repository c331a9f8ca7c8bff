import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccountsModule } from '../auth/accounts.module.js';
import { TunnelGatewaySettings } from '../settings.js';
import { DeviceExchange } from './device-exchange.js';
import { DeviceLoginsController } from './device-logins.controller.js';
import { DeviceRequests } from './device-requests.js';
import { UserCodeHasher } from './user-code-hasher.js';

@Module({
  imports: [AccountsModule],
  controllers: [DeviceLoginsController],
  providers: [
    {
      provide: UserCodeHasher,
      inject: [TunnelGatewaySettings, DataSource],
      useFactory: (settings: TunnelGatewaySettings, queries: DataSource) => UserCodeHasher.load(settings, queries),
    },
    DeviceRequests,
    DeviceExchange,
  ],
})
export class DeviceLoginsModule {}
