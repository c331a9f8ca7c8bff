import { Public } from '@gatehouse/auth';
import type { AuthStatusResponse, LoginResponse } from '@gatehouse/contracts';
import { Body, Controller, Get, HttpCode, Ip, Post } from '@nestjs/common';
import { LoginBody } from './auth.dto.js';
import { LoginService } from './login.service.js';

@Controller('auth')
@Public()
export class AuthController {
  constructor(private readonly logins: LoginService) {}

  @Post('login')
  @HttpCode(200)
  login(@Body() body: LoginBody, @Ip() ip: string): Promise<LoginResponse> {
    return this.logins.login(body.password, ip);
  }

  @Get('status')
  status(): AuthStatusResponse {
    return this.logins.status();
  }
}
