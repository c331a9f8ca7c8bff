import { Requires } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
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
  @Answers('CountryList', 'The nodes by country')
  @Requires('read')
  list(): Promise<ItemList<CountryView>> {
    return this.countries.list();
  }

  @Post('proxies/rebuild-countries')
  @Answers('CountryRebuildResult', 'Detects the country of every node again')
  @Fails('CONFLICT', 'UPSTREAM_TIMEOUT')
  @HttpCode(200)
  @Requires('write')
  rebuild(): Promise<CountryRebuildResult> {
    return this.detection.rebuild();
  }
}
