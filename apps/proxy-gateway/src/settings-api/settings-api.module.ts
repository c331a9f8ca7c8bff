import { Module } from '@nestjs/common';
import { OpenAccessModule } from '../auth/open-access.module.js';
import { SettingsController } from './settings.controller.js';
import { SettingsService } from './settings.service.js';

@Module({ imports: [OpenAccessModule], controllers: [SettingsController], providers: [SettingsService] })
export class SettingsApiModule {}
