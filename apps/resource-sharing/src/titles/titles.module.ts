import { Module } from '@nestjs/common';
import { Titles } from './titles.js';

@Module({ providers: [Titles], exports: [Titles] })
export class TitlesModule {}
