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
  @Answers('TunnelApiKeyPage', "Keys for programs: one's own, of administrators all")
  list(@Query() query: ApiKeyQuery, @CurrentActor() actor: Actor): Promise<TunnelApiKeyPage> {
    return this.keys.list(query, actor);
  }

  @Post()
  @RequiresLogin()
  @Header('Cache-Control', 'no-store')
  @Answers('NewTunnelApiKeyView', 'Makes a key, shown this once; it may do no more than its user at any time')
  @Fails('TOTP_REQUIRED', 'LOCKED')
  create(@Body() body: NewApiKeyBody, @CurrentActor() actor: Actor, @Ip() ip: string): Promise<NewTunnelApiKeyView> {
    return this.keys.create(body, actor, ip);
  }

  @Get(':id')
  @Answers('TunnelApiKeyView', 'One key')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelApiKeyView> {
    return this.keys.get(id, actor);
  }

  @Delete(':id')
  @RequiresLogin()
  @HttpCode(204)
  @AnswersNothing('Revokes a key')
  revoke(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<void> {
    return this.keys.revoke(id, actor);
  }
}
