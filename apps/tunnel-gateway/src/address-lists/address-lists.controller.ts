import { CurrentActor, Requires, type Actor } from '@gatehouse/auth';
import type { AddressListPage, AddressListView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { AddressListChanges, AddressListQuery, NewAddressListBody } from './address-list.dto.js';
import { AddressListsService } from './address-lists.service.js';

@ApiTags('address-lists')
@Controller('address-lists')
@Requires('admin')
export class AddressListsController {
  constructor(private readonly lists: AddressListsService) {}

  @Get()
  @Answers('AddressListPage', 'Lists lists of addresses')
  list(@Query() query: AddressListQuery, @CurrentActor() actor: Actor): Promise<AddressListPage> {
    return this.lists.list(query, actor);
  }

  @Post()
  @Fails('CONFLICT')
  @Answers('AddressListView', 'Adds a list of addresses')
  create(@Body() body: NewAddressListBody, @CurrentActor() actor: Actor): Promise<AddressListView> {
    return this.lists.create(body, actor);
  }

  @Get(':id')
  @Answers('AddressListView', 'Returns one list of addresses')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<AddressListView> {
    return this.lists.get(id, actor);
  }

  @Patch(':id')
  @Answers('AddressListView', 'Changes a list of addresses')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: AddressListChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<AddressListView> {
    return this.lists.update(id, body, actor, expected);
  }

  @Delete(':id')
  @HttpCode(204)
  @Fails('CONFLICT')
  @AnswersNothing('Deletes a list of addresses')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.lists.remove(id, actor, expected);
  }

  @Post(':id/refresh')
  @HttpCode(200)
  @Answers('AddressListView', 'Fetches a list of addresses now')
  refresh(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<AddressListView> {
    return this.lists.refresh(id, actor);
  }
}
