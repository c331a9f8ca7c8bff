import { Global, Module } from '@nestjs/common';
import { Preferences } from './preferences.service.js';

@Global()
@Module({ providers: [Preferences], exports: [Preferences] })
export class PreferencesModule {}
