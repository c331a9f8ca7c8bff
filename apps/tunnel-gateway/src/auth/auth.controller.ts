import { CurrentActor, Public, Requires, type Actor } from '@gatehouse/auth';
import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { UserView } from '../users/user.view.js';
import { LoginBody, LoginView } from './auth.dto.js';
import { Login } from './login.js';

@ApiTags('auth')
@Controller('auth')
export class AuthController {
  constructor(private readonly login: Login) {}

  @Public()
  @Post('login')
  @HttpCode(200)
  @ApiOperation({ summary: 'Log in; the answer holds the session token and sets it as a cookie', security: [] })
  @ApiOkResponse({ type: LoginView })
  logIn(
    @Body() body: LoginBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LoginView> {
    return this.login.logIn(body, request, response);
  }

  @Requires('read')
  @Post('logout')
  @HttpCode(204)
  @ApiOperation({ summary: 'End this session' })
  @ApiNoContentResponse()
  logOut(@CurrentActor() actor: Actor, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.login.logOut(actor.credentialId, response);
  }

  @Get('me')
  @ApiOperation({ summary: 'The user who is logged in' })
  @ApiOkResponse({ type: UserView })
  me(@CurrentActor() actor: Actor): Promise<UserView> {
    return this.login.user(actor.userId);
  }
}
