import { Requires } from '@gatehouse/auth';
import type { CountryRebuildResult, CountryView, ItemList } from '@gatehouse/contracts';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { CountriesQuery } from './countries.query.js';
import { RequestDetection } from './request-detection.js';

@Controller()
export class CountriesController {
  constructor(
    private readonly countries: CountriesQuery,
    private readonly detection: RequestDetection,
  ) {}

  @Get('countries')
  @Requires('read')
  list(): Promise<ItemList<CountryView>> {
    return this.countries.list();
  }

  @Post('proxies/rebuild-countries')
  @HttpCode(200)
  @Requires('write')
  rebuild(): Promise<CountryRebuildResult> {
    return this.detection.rebuild();
  }
}
