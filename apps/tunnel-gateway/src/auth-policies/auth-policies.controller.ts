import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { AuthPolicyPage, AuthPolicyView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { AuthPolicyChanges, AuthPolicyQuery, NewAuthPolicyBody } from './auth-policy.dto.js';
import { AuthPoliciesService } from './auth-policies.service.js';

@ApiTags('auth-policies')
@Controller('auth-policies')
export class AuthPoliciesController {
  constructor(private readonly policies: AuthPoliciesService) {}

  @Get()
  @Answers('AuthPolicyPage', 'Lists policies for visitors')
  list(@Query() query: AuthPolicyQuery, @CurrentActor() actor: Actor): Promise<AuthPolicyPage> {
    return this.policies.list(query, actor);
  }

  @Post()
  @Answers('AuthPolicyView', 'Creates a policy for visitors')
  create(@Body() body: NewAuthPolicyBody, @CurrentActor() actor: Actor): Promise<AuthPolicyView> {
    return this.policies.create(body, actor);
  }

  @Get(':id')
  @Answers('AuthPolicyView', 'Returns one policy')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<AuthPolicyView> {
    return this.policies.get(id, actor);
  }

  @Patch(':id')
  @Fails('CONFLICT')
  @Answers('AuthPolicyView', 'Changes a policy')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: AuthPolicyChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<AuthPolicyView> {
    return this.policies.update(id, body, actor, expected);
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Deletes a policy')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.policies.remove(id, actor, expected);
  }
}
