import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { GeoStatus, GeoUpdateResult } from '@gatehouse/contracts';
import { Answers, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { IsBoolean } from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { GeoService } from './geo.service.js';

export class GeoUpdateBody {
  /** Download the files even if they have not changed. */
  @Omittable()
  @IsBoolean()
  force?: boolean;
}

@Controller('system/geo')
export class GeoController {
  constructor(private readonly geo: GeoService) {}

  @Get()
  @Answers('GeoStatus', 'The geo databases')
  @Requires('read')
  status(@CurrentActor() actor: Actor | null): Promise<GeoStatus> {
    return this.geo.status(actor);
  }

  @Post('update')
  @Answers('GeoUpdateResult', 'Updates the geo databases')
  @Fails('GEO_UPDATE_RUNNING', 'UPSTREAM_TIMEOUT')
  @HttpCode(200)
  @Requires('write')
  update(@Body() body: GeoUpdateBody): Promise<GeoUpdateResult> {
    // Without a request body there is no DTO.
    return this.geo.update((body as GeoUpdateBody | undefined)?.force ?? false);
  }
}
