import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { OpenOperation } from '../credentials/caller.js';
import { ResourceSharingSettings } from '../settings.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { CheckedResourceView, CheckResourceBody, toCheckedResource } from './check-resource.dto.js';
import { readLink } from './read-link.js';

@ApiTags('resources')
@Controller('api/open/check')
export class LinksController {
  constructor(private readonly settings: ResourceSharingSettings) {}

  @Post('resource')
  @HttpCode(200)
  @OpenOperation({ scope: 'query' })
  @ApiOperation({ summary: 'Recognize the link in a text, and its access code' })
  @ApiEnvelope(CheckedResourceView)
  check(@Body() { url, access_code }: CheckResourceBody): CheckedResourceView {
    return toCheckedResource(readLink(url, access_code), this.settings.shareDefaultUnlockPoints);
  }
}
