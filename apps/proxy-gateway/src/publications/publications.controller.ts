import { Requires, RequiresLogin } from '@gatehouse/auth';
import type {
  PublicationCreated,
  PublicationDeleted,
  PublicationList,
  PublicationPreview,
  PublicationView,
} from '@gatehouse/contracts';
import { Answers, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post, Put, Res } from '@nestjs/common';
import type { Response } from 'express';
import { IfMatch, versionTag } from '../wire/if-match.js';
import { NewPublication, PublicationChanges, PublicationPreviewRequest } from './publication.dto.js';
import { PublicationsService } from './publications.service.js';

/** Documents that clients of other programs subscribe to. Whoever has the address of one has the credentials in it. */
@Controller('publications')
export class PublicationsController {
  constructor(private readonly publications: PublicationsService) {}

  @Get()
  @Answers('PublicationList', 'The publications, without their tokens')
  @Requires('read')
  list(): Promise<PublicationList> {
    return this.publications.list();
  }

  @Get(':id')
  @Answers('PublicationView', 'One publication')
  @Requires('read')
  async get(@Param('id', IdPipe) id: number, @Res({ passthrough: true }) response: Response): Promise<PublicationView> {
    return tagged(await this.publications.get(id), response);
  }

  @Post()
  @Answers('PublicationCreated', 'Adds a publication and shows its token, this one time')
  @Requires('admin')
  @RequiresLogin()
  @Header('Cache-Control', 'no-store')
  create(@Body() body: NewPublication): Promise<PublicationCreated> {
    return this.publications.create(body);
  }

  @Post('preview')
  @Answers('PublicationPreview', 'Says what a publication would contain')
  @HttpCode(200)
  @Requires('write')
  @Header('Cache-Control', 'no-store')
  preview(@Body() body: PublicationPreviewRequest): Promise<PublicationPreview> {
    return this.publications.preview(body);
  }

  @Put(':id')
  @Answers('PublicationView', 'Changes a publication')
  @Requires('write')
  async update(
    @Param('id', IdPipe) id: number,
    @Body() body: PublicationChanges,
    @IfMatch() ifMatch: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PublicationView> {
    return tagged(await this.publications.update(id, body, ifMatch), response);
  }

  @Post(':id/token')
  @Answers('PublicationCreated', 'Replaces the token, which is shown this one time; the one before is invalid at once')
  @HttpCode(200)
  @Requires('admin')
  @RequiresLogin()
  @Header('Cache-Control', 'no-store')
  renewToken(@Param('id', IdPipe) id: number): Promise<PublicationCreated> {
    return this.publications.renewToken(id);
  }

  @Delete(':id')
  @Answers('PublicationDeleted', 'Deletes a publication; its address answers 404 from then on')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number): Promise<PublicationDeleted> {
    return this.publications.remove(id);
  }
}

function tagged(view: PublicationView, response: Response): PublicationView {
  response.setHeader('ETag', versionTag(view.updated_at));
  return view;
}
