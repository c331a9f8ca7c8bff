import { Public, Requires, RequiresLogin } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
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
  @Answers('LoginResponse', 'Exchanges the password for a token')
  @Fails('LOGIN_FAILED', 'RATE_LIMITED')
  @Public()
  @HttpCode(200)
  login(@Body() body: LoginBody, @Ip() ip: string): Promise<LoginResponse> {
    return this.logins.login(body.password, ip);
  }

  /** Asks for the current password as well: a stolen token must not be enough. */
  @Post('password')
  @Answers('LoginResponse', 'Changes the password and invalidates every other token')
  @Fails('RATE_LIMITED')
  @HttpCode(200)
  @Requires('admin')
  @RequiresLogin()
  @Header('Cache-Control', 'no-store')
  changePassword(@Body() body: PasswordChangeBody, @Ip() ip: string): Promise<LoginResponse> {
    return this.passwords.run(body, ip);
  }

  @Get('status')
  @Answers('AuthStatusResponse', 'Whether credentials are needed')
  @Public()
  status(): AuthStatusResponse {
    return this.logins.status();
  }
}
