import { Module } from '@nestjs/common';
import { CheckInController } from './check-in.controller.js';
import { CheckIns } from './check-ins.service.js';

@Module({ controllers: [CheckInController], providers: [CheckIns], exports: [CheckIns] })
export class CheckInModule {}
