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
  @Answers(
    'TunnelLoginView',
    'Log in; the answer holds the session token, and sets it as a cookie where `cookie` asks for it',
  )
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
  @AnswersNothing('End this session')
  logOut(@CurrentActor() actor: Actor, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.logins.close(actor.credential === 'session' ? actor.credentialId : null, response);
  }

  @Get('me')
  @Answers('TunnelUserView', 'The user who is logged in, or whose key it is')
  me(@CurrentActor() actor: Actor): Promise<TunnelUserView> {
    return this.login.user(actor);
  }

  @Public()
  @Get('setup')
  @Answers('TunnelSetupView', 'Whether the first administrator has to be made')
  setupState(): Promise<TunnelSetupView> {
    return this.setup.state();
  }

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('setup')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers(
    'TunnelLoginView',
    'Makes the first administrator, with the token that the service wrote to a file, and logs in',
  )
  @Fails('CONFLICT', 'FORBIDDEN')
  runSetup(
    @Body() body: SetupBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TunnelLoginView> {
    return this.setup.run(body, request, response);
  }
}
