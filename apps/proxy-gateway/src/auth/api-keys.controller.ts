import { CurrentActor, Requires, RequiresLogin } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { ApiKeyCreatedResponse, ApiKeyListResponse, ApiKeyRevokedResponse } from '@gatehouse/contracts';
import { Answers, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, Header, Param, Post, Query } from '@nestjs/common';
import { ApiKeysService } from './api-keys.service.js';
import { ApiKeyQuery, NewApiKeyBody } from './auth.dto.js';

@Controller('api-keys')
@Requires('admin')
export class ApiKeysController {
  constructor(private readonly apiKeys: ApiKeysService) {}

  @Get()
  @Answers('ApiKeyListResponse', 'The API keys, newest first')
  list(@Query() query: ApiKeyQuery): Promise<ApiKeyListResponse> {
    return this.apiKeys.list(query);
  }

  @Post()
  @RequiresLogin()
  @Answers('ApiKeyCreatedResponse', 'Creates an API key and shows it, this one time')
  @Header('Cache-Control', 'no-store')
  create(@Body() body: NewApiKeyBody, @CurrentActor() actor: Actor | null): Promise<ApiKeyCreatedResponse> {
    return this.apiKeys.create(body, actor);
  }

  @Delete(':id')
  @RequiresLogin()
  @Answers('ApiKeyRevokedResponse', 'Revokes an API key')
  revoke(@Param('id', IdPipe) id: number): Promise<ApiKeyRevokedResponse> {
    return this.apiKeys.revoke(id);
  }
}
