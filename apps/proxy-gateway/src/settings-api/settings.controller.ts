import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { SettingsView } from '@gatehouse/contracts';
import { Answers, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, Put, Res } from '@nestjs/common';
import type { Response } from 'express';
import { SettingsService } from './settings.service.js';

@Controller('settings')
export class SettingsController {
  constructor(private readonly settings: SettingsService) {}

  @Get()
  @Answers('SettingsView', 'The settings')
  @Requires('read')
  read(@CurrentActor() actor: Actor | null): SettingsView {
    return this.settings.read(actor);
  }

  @Get('defaults')
  @Answers('SettingsView', 'The default of each setting')
  @Requires('read')
  defaults(): SettingsView {
    return this.settings.defaults();
  }

  /** The answer has strings only, so a header names the settings that need a restart. */
  @Put()
  @Answers('SettingsView', 'Changes settings, all of them or none', {
    body: 'SettingsView',
    headers: { 'X-Restart-Required': 'The settings that need a restart, separated by commas' },
  })
  @Fails('UNPROCESSABLE')
  @Requires('admin')
  async change(
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SettingsView> {
    const { settings, restartNeeded } = await this.settings.change(body, actor);
    if (restartNeeded.length > 0) response.setHeader('X-Restart-Required', restartNeeded.join(','));
    return settings;
  }
}
