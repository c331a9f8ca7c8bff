import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
import type {
  DefaultPolicyResult,
  GroupDeleted,
  GroupSwitchRecord,
  GroupSwitchResult,
  OutboundGroupView,
  OutboundOverview,
  Page,
} from '@gatehouse/contracts';
import { Body, Controller, Delete, Get, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { GroupChooser } from './group-chooser.service.js';
import { GroupEditor } from './group-editor.service.js';
import {
  DefaultPolicy,
  GroupChanges,
  HistoryQuery,
  MembersQuery,
  NewGroup,
  SwitchGroup,
  SwitchQuery,
} from './outbound.dto.js';
import { OutboundService } from './outbound.service.js';

@Controller('outbound')
export class OutboundController {
  constructor(
    private readonly outbound: OutboundService,
    private readonly chooser: GroupChooser,
    private readonly editor: GroupEditor,
  ) {}

  @Get()
  @Answers('OutboundOverview', 'The groups, their members and the default policy')
  @Requires('read')
  overview(@Query() query: MembersQuery, @CurrentActor() actor: Actor | null): Promise<OutboundOverview> {
    return this.outbound.overview(query, actor);
  }

  @Put('default-policy')
  @Answers('DefaultPolicyResult', 'Sets the target of traffic that no rule matches')
  @Fails('UNPROCESSABLE', 'CONFLICT')
  @Requires('write')
  setDefaultPolicy(@Body() body: DefaultPolicy): Promise<DefaultPolicyResult> {
    return this.outbound.setDefaultPolicy(body.policy);
  }

  @Post('groups')
  @Answers('OutboundGroupView', 'Creates a group')
  @Fails('CONFLICT', 'UNPROCESSABLE')
  @Requires('write')
  create(@Body() body: NewGroup): Promise<OutboundGroupView> {
    return this.editor.create(body);
  }

  @Get('groups/:name')
  @Answers('OutboundGroupView', 'One group')
  @Requires('read')
  group(
    @Param('name') name: string,
    @Query() query: MembersQuery,
    @CurrentActor() actor: Actor | null,
  ): Promise<OutboundGroupView> {
    return this.outbound.group(name, query, actor);
  }

  @Patch('groups/:name')
  @Answers('OutboundGroupView', 'Changes a group')
  @Fails('CONFLICT', 'UNPROCESSABLE')
  @Requires('write')
  update(@Param('name') name: string, @Body() body: GroupChanges): Promise<OutboundGroupView> {
    return this.editor.update(name, body);
  }

  @Delete('groups/:name')
  @Answers('GroupDeleted', 'Deletes a group')
  @Fails('CONFLICT', 'IN_USE')
  @Requires('write')
  remove(@Param('name') name: string): Promise<GroupDeleted> {
    return this.editor.remove(name);
  }

  @Put('groups/:name')
  @Answers('GroupSwitchResult', 'Chooses a member of a group')
  @Fails('CONFLICT', 'UNPROCESSABLE')
  @Requires('write')
  choose(
    @Param('name') name: string,
    @Body() body: SwitchGroup,
    @Query() query: SwitchQuery,
  ): Promise<GroupSwitchResult> {
    return this.chooser.choose(name, body.proxy, query.close_connections);
  }

  /** Lets the group decide again. */
  @Delete('groups/:name/selection')
  @Answers('GroupSwitchResult', 'Takes the choice back: the group decides again')
  @Fails('UNPROCESSABLE')
  @Requires('write')
  release(@Param('name') name: string, @Query() query: SwitchQuery): Promise<GroupSwitchResult> {
    return this.chooser.release(name, query.close_connections);
  }

  @Get('groups/:name/history')
  @Answers('GroupHistory', 'The switches of a group')
  @Requires('read')
  history(@Param('name') name: string, @Query() query: HistoryQuery): Promise<Page<GroupSwitchRecord>> {
    return this.outbound.history(name, query);
  }
}
