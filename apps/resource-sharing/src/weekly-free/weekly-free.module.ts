import { Module } from '@nestjs/common';
import { EntitlementsController } from './entitlements.controller.js';
import { WeeklyFreeController } from './weekly-free.controller.js';
import { WeeklyFreeUnlocks } from './weekly-free.service.js';

@Module({
  controllers: [WeeklyFreeController, EntitlementsController],
  providers: [WeeklyFreeUnlocks],
  exports: [WeeklyFreeUnlocks],
})
export class WeeklyFreeModule {}
