import { AppError, Fails } from '@gatehouse/platform';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OpenOperation, type Caller } from '../credentials/caller.js';
import { ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { MAX_OF_TITLE, ShareReader } from './share-reader.js';
import { ListResourcesQuery } from './share.dto.js';
import { ResourceItemView, toResourceItem } from './share.view.js';

const DEFAULT_PAGE_SIZE = 100;

@ApiTags('resources')
@Controller('api/open/resources')
export class ResourcesController {
  constructor(private readonly reader: ShareReader) {}

  @Get(':type/:tmdb_id')
  @OpenOperation({ scope: 'query' })
  @ApiOperation({
    summary: `Shares of a film or series, newest first; empty for an unknown title. The newest ${MAX_OF_TITLE} without page and page_size`,
  })
  @ApiParam({ name: 'type', schema: { type: 'string', enum: ['movie', 'tv'] } })
  @ApiEnvelopeList(ResourceItemView, { paged: 'when asked' })
  @Fails('INVALID_ARGUMENT')
  async ofTitle(
    @Param('type') type: string,
    @Param('tmdb_id') tmdbId: string,
    @Query() query: ListResourcesQuery,
    @CurrentCaller() { userId }: Caller,
  ): Promise<Enveloped> {
    if (type !== 'movie' && type !== 'tv') throw new AppError('INVALID_ARGUMENT', 'type: must be movie or tv');
    const title = { type, tmdbId } as const;
    const asked = pageOf(query);
    const { rows, total } = await this.reader.ofTitle(title, userId, asked);
    return new Enveloped(rows.map(toResourceItem), { total, ...asked });
  }
}

/** Undefined for a client that knows no pages: it gets what it always got. */
function pageOf({ page, page_size: given }: ListResourcesQuery): { page: number; pageSize: number } | undefined {
  if (page === undefined && given === undefined) return undefined;
  return { page: page ?? 1, pageSize: Math.min(Math.max(given ?? DEFAULT_PAGE_SIZE, 1), MAX_OF_TITLE) };
}
