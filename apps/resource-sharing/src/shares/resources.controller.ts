import { AppError, Fails } from '@gatehouse/platform';
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OpenOperation, type Caller } from '../credentials/caller.js';
import { ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.interceptor.js';
import { ShareReader } from './share-reader.js';
import { ResourceItemView, toResourceItem } from './share.view.js';

@ApiTags('resources')
@Controller('api/open/resources')
export class ResourcesController {
  constructor(private readonly reader: ShareReader) {}

  @Get(':type/:tmdb_id')
  @OpenOperation({ scope: 'query' })
  @ApiOperation({ summary: 'Shares of a film or series, newest first; empty for an unknown title' })
  @ApiParam({ name: 'type', schema: { type: 'string', enum: ['movie', 'tv'] } })
  @ApiEnvelopeList(ResourceItemView)
  @Fails('INVALID_ARGUMENT')
  async ofTitle(
    @Param('type') type: string,
    @Param('tmdb_id') tmdbId: string,
    @CurrentCaller() { userId }: Caller,
  ): Promise<Enveloped> {
    if (type !== 'movie' && type !== 'tv') throw new AppError('INVALID_ARGUMENT', 'type: must be movie or tv');
    const rows = await this.reader.ofTitle(type, tmdbId, userId);
    return new Enveloped(rows.map(toResourceItem), { total: rows.length });
  }
}
