import { Module } from '@nestjs/common';
import { UnlocksController } from './unlocks.controller.js';
import { Unlocks } from './unlocks.service.js';

@Module({ controllers: [UnlocksController], providers: [Unlocks], exports: [Unlocks] })
export class UnlocksModule {}
