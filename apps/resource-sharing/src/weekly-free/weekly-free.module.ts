import { Module } from '@nestjs/common';
import { WeeklyFreeController } from './weekly-free.controller.js';
import { WeeklyFreeUnlocks } from './weekly-free.service.js';

@Module({ controllers: [WeeklyFreeController], providers: [WeeklyFreeUnlocks], exports: [WeeklyFreeUnlocks] })
export class WeeklyFreeModule {}
