import type { TunnelGatewayView } from '@gatehouse/contracts';
import { Answers } from '@gatehouse/platform';
import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PublicAddresses } from './public-addresses.js';

@ApiTags('gateway')
@Controller('gateway')
export class GatewayController {
  constructor(private readonly addresses: PublicAddresses) {}

  @Get()
  @Answers('TunnelGatewayView', 'Returns the addresses of the gateway')
  get(): TunnelGatewayView {
    return this.addresses.view();
  }
}
