import { Module } from '@nestjs/common';
import { ProfileController } from './profile.controller.js';
import { Profiles } from './profiles.service.js';

@Module({ controllers: [ProfileController], providers: [Profiles], exports: [Profiles] })
export class ProfileModule {}
