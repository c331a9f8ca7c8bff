import { CurrentActor, Requires, RequiresLogin, type Actor } from '@gatehouse/auth';
import type { TunnelUserPage, TunnelUserView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { NewUserBody, UserChanges, UserQuery, UserRemovalQuery } from './user.dto.js';
import { UserAccounts } from './user-accounts.service.js';

@ApiTags('users')
@Controller('users')
export class UsersController {
  constructor(private readonly users: UserAccounts) {}

  @Get()
  @Answers('TunnelUserPage', 'Lists users')
  list(@Query() query: UserQuery, @CurrentActor() actor: Actor): Promise<TunnelUserPage> {
    return this.users.list(query, actor);
  }

  @Post()
  @Requires('admin')
  @RequiresLogin()
  @Answers('TunnelUserView', 'Creates a user')
  @Fails('USERNAME_TAKEN')
  create(@Body() body: NewUserBody, @CurrentActor() actor: Actor): Promise<TunnelUserView> {
    return this.users.create(body, actor);
  }

  @Get(':id')
  @Answers('TunnelUserView', 'Returns one user')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelUserView> {
    return this.users.get(id, actor);
  }

  @Patch(':id')
  @Requires('admin')
  @RequiresLogin()
  @Answers('TunnelUserView', 'Changes a user')
  @Fails('USERNAME_TAKEN', 'CONFLICT')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: UserChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<TunnelUserView> {
    return this.users.update(id, body, actor, expected);
  }

  @Delete(':id')
  @Requires('admin')
  @RequiresLogin()
  @HttpCode(204)
  @AnswersNothing('Deletes a user')
  @Fails('IN_USE', 'CONFLICT')
  remove(
    @Param('id', IdPipe) id: number,
    @Query() query: UserRemovalQuery,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.users.remove(id, query, actor, expected);
  }
}
