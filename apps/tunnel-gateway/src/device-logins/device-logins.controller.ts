import { CurrentActor, Public, Requires, RequiresLogin, type Actor } from '@gatehouse/auth';
import type { DeviceCodesView, DeviceLoginView, DeviceRequestView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails } from '@gatehouse/platform';
import { Body, Controller, Header, HttpCode, Ip, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DeviceExchange } from './device-exchange.js';
import { DeviceDecisionBody, DeviceLoginBody, DeviceTokenBody, UserCodeBody } from './device-login.dto.js';
import { DeviceRequests } from './device-requests.js';

/** Logins of machines without a browser, in the shape of RFC 8628. */
@ApiTags('auth')
@Controller('auth/device')
export class DeviceLoginsController {
  constructor(
    private readonly requests: DeviceRequests,
    private readonly exchange: DeviceExchange,
  ) {}

  @Public()
  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('DeviceCodesView', 'Begins the login of a machine')
  begin(@Body() { machine }: DeviceLoginBody, @Ip() ip: string): Promise<DeviceCodesView> {
    return this.requests.begin(machine, ip);
  }

  @Public()
  @Post('token')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('DeviceLoginView', 'Answers a machine that waits for its user')
  poll(@Body() { device_code: code }: DeviceTokenBody, @Ip() ip: string): Promise<DeviceLoginView> {
    return this.exchange.exchange(code, ip);
  }

  /** A POST, so that the code is in no address. */
  @Requires('read')
  @RequiresLogin()
  @Post('find')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('DeviceRequestView', 'Returns the machine that shows a code')
  find(@Body() { user_code: code }: UserCodeBody, @CurrentActor() actor: Actor, @Ip() ip: string) {
    return this.requests.find(code, actor, ip) satisfies Promise<DeviceRequestView>;
  }

  @Requires('read')
  @RequiresLogin()
  @Post('decide')
  @HttpCode(204)
  @AnswersNothing('Approves or refuses the login of a machine')
  @Fails('TOTP_REQUIRED', 'LOCKED')
  decide(@Body() body: DeviceDecisionBody, @CurrentActor() actor: Actor, @Ip() ip: string): Promise<void> {
    return this.requests.decide(body, actor, ip);
  }
}
