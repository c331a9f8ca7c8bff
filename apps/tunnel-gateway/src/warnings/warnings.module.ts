import { Module } from '@nestjs/common';
import { Warnings } from './warnings.service.js';

@Module({ providers: [Warnings], exports: [Warnings] })
export class WarningsModule {}
