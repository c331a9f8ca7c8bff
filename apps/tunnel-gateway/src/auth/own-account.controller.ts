import { CurrentActor, requireLogin, Requires, RequiresLogin, type Actor } from '@gatehouse/auth';
import type { ConsolePreferences, RecoveryCodesView, TotpEnrolmentView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, Header, HttpCode, Ip, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PasswordChangeBody, PreferencesBody, TotpCodeBody } from './auth.dto.js';
import { OwnFactor } from './own-factor.js';
import { OwnPreferences } from './own-preferences.js';
import { PasswordChange } from './password-change.js';
import { ProvesPassword } from './proof.dto.js';

/** Read-only users have an account, too. */
@ApiTags('auth')
@Requires('read')
@RequiresLogin()
@Controller('auth')
export class OwnAccountController {
  constructor(
    private readonly passwords: PasswordChange,
    private readonly factor: OwnFactor,
    private readonly preferences: OwnPreferences,
  ) {}

  @Post('password')
  @HttpCode(204)
  @AnswersNothing('Changes the password')
  @Fails('TOTP_REQUIRED', 'LOCKED', 'CONFLICT')
  changePassword(@Body() body: PasswordChangeBody, @CurrentActor() actor: Actor, @Ip() ip: string): Promise<void> {
    return this.passwords.run(body, actor, ip);
  }

  @Post('totp')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('TotpEnrolmentView', 'Starts setting up a second factor')
  @Fails('TOTP_REQUIRED', 'LOCKED', 'CONFLICT')
  beginTotp(@Body() body: ProvesPassword, @CurrentActor() actor: Actor, @Ip() ip: string): Promise<TotpEnrolmentView> {
    return this.factor.begin(body, actor, ip);
  }

  @Post('totp/confirm')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('RecoveryCodesView', 'Turns the second factor on')
  @Fails('LOCKED', 'CONFLICT')
  confirmTotp(@Body() { code }: TotpCodeBody, @CurrentActor() actor: Actor): Promise<RecoveryCodesView> {
    return this.factor.confirm(code, actor);
  }

  @Post('totp/disable')
  @HttpCode(204)
  @AnswersNothing('Turns the second factor off')
  @Fails('TOTP_REQUIRED', 'LOCKED')
  endTotp(@Body() body: ProvesPassword, @CurrentActor() actor: Actor, @Ip() ip: string): Promise<void> {
    return this.factor.end(body, actor, ip);
  }

  @Post('totp/recovery-codes')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Answers('RecoveryCodesView', 'Creates new recovery codes')
  @Fails('TOTP_REQUIRED', 'LOCKED', 'CONFLICT')
  renewRecoveryCodes(
    @Body() body: ProvesPassword,
    @CurrentActor() actor: Actor,
    @Ip() ip: string,
  ): Promise<RecoveryCodesView> {
    return this.factor.renewRecoveryCodes(body, actor, ip);
  }

  @Get('preferences')
  @Answers('ConsolePreferences', 'Returns language and theme of the console')
  readPreferences(@CurrentActor() actor: Actor): Promise<ConsolePreferences> {
    return this.preferences.read(requireLogin(actor));
  }

  @Put('preferences')
  @Answers('ConsolePreferences', 'Changes language and theme of the console')
  savePreferences(@Body() body: PreferencesBody, @CurrentActor() actor: Actor): Promise<ConsolePreferences> {
    return this.preferences.save(requireLogin(actor), body);
  }
}
