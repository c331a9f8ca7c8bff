import { CurrentActor, Public, Requires, SameOriginGuard, type Actor } from '@gatehouse/auth';
import type { TunnelLoginView, TunnelSetupView, TunnelUserView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, Header, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { LoginBody, SetupBody } from './auth.dto.js';
import { FirstSetup } from './first-setup.js';
import { Login } from './login.js';
import { Logins } from './logins.js';

@ApiTags('auth')
@Controller('auth')
export class AuthController {
  constructor(
    private readonly login: Login,
    private readonly logins: Logins,
    private readonly setup: FirstSetup,
  ) {}

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('login')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('TunnelLoginView', 'Signs in with username and password')
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'FORBIDDEN')
  logIn(
    @Body() body: LoginBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TunnelLoginView> {
    return this.login.logIn(body, request, response);
  }

  @Requires('read')
  @Post('logout')
  @HttpCode(204)
  @AnswersNothing('Signs out')
  logOut(@CurrentActor() actor: Actor, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.logins.closeById(actor.credential === 'session' ? actor.credentialId : null, response);
  }

  @Get('me')
  @Answers('TunnelUserView', 'Returns the current user')
  me(@CurrentActor() actor: Actor): Promise<TunnelUserView> {
    return this.login.user(actor);
  }

  @Public()
  @Get('setup')
  @Answers('TunnelSetupView', 'Returns whether the first administrator still has to be created')
  setupState(): Promise<TunnelSetupView> {
    return this.setup.state();
  }

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('setup')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('TunnelLoginView', 'Creates the first administrator and signs in')
  @Fails('CONFLICT', 'FORBIDDEN')
  runSetup(
    @Body() body: SetupBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TunnelLoginView> {
    return this.setup.run(body, request, response);
  }
}
