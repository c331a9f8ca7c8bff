import { CurrentActor, Requires, RequiresLogin, type Actor } from '@gatehouse/auth';
import type { NewTunnelApiKeyView, TunnelApiKeyPage, TunnelApiKeyView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, Header, HttpCode, Ip, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ApiKeyQuery, NewApiKeyBody } from './api-key.dto.js';
import { ApiKeysService } from './api-keys.service.js';

/** Read-only users may have read-only keys. */
@ApiTags('api-keys')
@Requires('read')
@Controller('api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Get()
  @Answers('TunnelApiKeyPage', 'Lists API keys')
  list(@Query() query: ApiKeyQuery, @CurrentActor() actor: Actor): Promise<TunnelApiKeyPage> {
    return this.keys.list(query, actor);
  }

  @Post()
  @RequiresLogin()
  @Header('Cache-Control', 'no-store')
  @Answers('NewTunnelApiKeyView', 'Creates an API key and shows it once')
  @Fails('TOTP_REQUIRED', 'LOCKED')
  create(@Body() body: NewApiKeyBody, @CurrentActor() actor: Actor, @Ip() ip: string): Promise<NewTunnelApiKeyView> {
    return this.keys.create(body, actor, ip);
  }

  @Get(':id')
  @Answers('TunnelApiKeyView', 'Returns one API key')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelApiKeyView> {
    return this.keys.get(id, actor);
  }

  /** A key may end itself: it gains nothing by it. */
  @Delete('current')
  @HttpCode(204)
  @AnswersNothing('Revokes the API key of the request')
  revokeOwn(@CurrentActor() actor: Actor): Promise<void> {
    return this.keys.revokeOwn(actor);
  }

  @Delete(':id')
  @RequiresLogin()
  @HttpCode(204)
  @AnswersNothing('Revokes an API key')
  revoke(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<void> {
    return this.keys.revoke(id, actor);
  }
}
