import { Public, Requires } from '@gatehouse/auth';
import type { AuthStatusResponse, LoginResponse } from '@gatehouse/contracts';
import { Body, Controller, Get, Header, HttpCode, Ip, Post } from '@nestjs/common';
import { LoginBody, PasswordChangeBody } from './auth.dto.js';
import { ChangePassword } from './change-password.js';
import { LoginService } from './login.service.js';

@Controller('auth')
export class AuthController {
  constructor(
    private readonly logins: LoginService,
    private readonly passwords: ChangePassword,
  ) {}

  @Post('login')
  @Public()
  @HttpCode(200)
  login(@Body() body: LoginBody, @Ip() ip: string): Promise<LoginResponse> {
    return this.logins.login(body.password, ip);
  }

  /** Needs the current password too: an API key or a stolen token is not enough. */
  @Post('password')
  @HttpCode(200)
  @Requires('admin')
  @Header('Cache-Control', 'no-store')
  changePassword(@Body() body: PasswordChangeBody, @Ip() ip: string): Promise<LoginResponse> {
    return this.passwords.run(body, ip);
  }

  @Get('status')
  @Public()
  status(): AuthStatusResponse {
    return this.logins.status();
  }
}
