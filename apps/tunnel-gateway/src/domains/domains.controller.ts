import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { DomainPage, DomainView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { DomainQuery, NewDomainBody } from './domain.dto.js';
import { DomainsService } from './domains.service.js';

@ApiTags('domains')
@Controller('domains')
export class DomainsController {
  constructor(private readonly domains: DomainsService) {}

  @Get()
  @Answers('DomainPage', 'Lists domains')
  list(@Query() query: DomainQuery, @CurrentActor() actor: Actor): Promise<DomainPage> {
    return this.domains.list(query, actor);
  }

  @Post()
  @Answers('DomainView', 'Claims a domain')
  @Fails('NOT_FOUND', 'HOST_CONFLICT', 'CONFLICT', 'QUOTA_EXCEEDED')
  create(@Body() body: NewDomainBody, @CurrentActor() actor: Actor): Promise<DomainView> {
    return this.domains.create(body, actor);
  }

  @Get(':id')
  @Answers('DomainView', 'Returns one domain')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<DomainView> {
    return this.domains.get(id, actor);
  }

  @Post(':id/verify')
  @HttpCode(200)
  @Answers('DomainView', 'Verifies a domain by its TXT record')
  @Fails('HOST_CONFLICT', 'CONFLICT', 'SERVICE_UNAVAILABLE')
  verify(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<DomainView> {
    return this.domains.verify(id, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Releases a domain')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.domains.remove(id, actor, expected);
  }
}
