import { Global, Module } from '@nestjs/common';
import { GatewayController } from './gateway.controller.js';
import { PublicAddresses } from './public-addresses.js';

@Global()
@Module({ controllers: [GatewayController], providers: [PublicAddresses], exports: [PublicAddresses] })
export class GatewayModule {}
