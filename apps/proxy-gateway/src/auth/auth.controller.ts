import { Public, Requires, RequiresLogin } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
import type { AuthStatusResponse, ConsolePreferences, LoginResponse } from '@gatehouse/contracts';
import { Body, Controller, Get, Header, HttpCode, Ip, Post, Put } from '@nestjs/common';
import { AdministratorPreferences } from './administrator-preferences.js';
import { ADMINISTRATOR_ID } from './administrator.js';
import { LoginBody, PasswordChangeBody, PreferencesBody } from './auth.dto.js';
import { ChangePassword } from './change-password.js';
import { LoginService } from './login.service.js';

@Controller('auth')
export class AuthController {
  constructor(
    private readonly logins: LoginService,
    private readonly passwords: ChangePassword,
    private readonly preferences: AdministratorPreferences,
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

  @Get('preferences')
  @Answers('ConsolePreferences', 'Returns language and theme of the console')
  @RequiresLogin()
  readPreferences(): Promise<ConsolePreferences> {
    return this.preferences.read(ADMINISTRATOR_ID);
  }

  @Put('preferences')
  @Answers('ConsolePreferences', 'Changes language and theme of the console')
  @RequiresLogin()
  savePreferences(@Body() body: PreferencesBody): Promise<ConsolePreferences> {
    return this.preferences.save(ADMINISTRATOR_ID, body);
  }

  @Get('status')
  @Answers('AuthStatusResponse', 'Whether credentials are needed')
  @Public()
  status(): AuthStatusResponse {
    return this.logins.status();
  }
}
