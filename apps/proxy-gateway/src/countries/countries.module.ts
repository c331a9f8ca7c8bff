import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { CountriesController } from './countries.controller.js';
import { CountriesQuery } from './countries.query.js';
import { RequestDetection } from './request-detection.js';

@Module({
  imports: [KernelModule],
  controllers: [CountriesController],
  providers: [CountriesQuery, RequestDetection],
})
export class CountriesModule {}
