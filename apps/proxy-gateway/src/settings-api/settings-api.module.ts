import { Module } from '@nestjs/common';
import { OpenAccessModule } from '../auth/open-access.module.js';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { SettingsController } from './settings.controller.js';
import { SettingsService } from './settings.service.js';

@Module({ imports: [OpenAccessModule, KernelModule], controllers: [SettingsController], providers: [SettingsService] })
export class SettingsApiModule {}
