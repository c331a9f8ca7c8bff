import { CurrentActor, Requires, type Actor } from '@gatehouse/auth';
import type {
  PublicationPreview,
  PublicationTemplateDeleted,
  PublicationTemplateDetail,
  PublicationTemplateList,
} from '@gatehouse/contracts';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post, Put, Res } from '@nestjs/common';
import type { Response } from 'express';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { IfMatch, versionTag } from '../wire/if-match.js';
import {
  NewPublicationTemplate,
  PublicationTemplateChanges,
  PublicationTemplatePreviewRequest,
} from './template.dto.js';
import { TemplatesService } from './templates.service.js';

/** Documents of one's own, into which the nodes of publications are put. */
@Controller('publication-templates')
export class PublicationTemplatesController {
  constructor(private readonly templates: TemplatesService) {}

  @Get()
  @Answers('PublicationTemplateList', 'The templates, without their texts')
  @Requires('read')
  list(): Promise<PublicationTemplateList> {
    return this.templates.list();
  }

  @Get(':id')
  @Answers('PublicationTemplateDetail', 'One template')
  @Requires('read')
  async get(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor | null,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PublicationTemplateDetail> {
    return tagged(await this.templates.get(id, maySeeSecrets(actor)), response);
  }

  @Post()
  @Answers('PublicationTemplateDetail', 'Adds a template')
  @Fails('CONFLICT')
  @Requires('write')
  @Header('Cache-Control', 'no-store')
  create(@Body() body: NewPublicationTemplate): Promise<PublicationTemplateDetail> {
    return this.templates.create(body);
  }

  @Post('preview')
  @Answers('PublicationPreview', 'Says what a template gives with the nodes of a publication')
  @HttpCode(200)
  @Requires('write')
  @Header('Cache-Control', 'no-store')
  preview(@Body() body: PublicationTemplatePreviewRequest): Promise<PublicationPreview> {
    return this.templates.preview(body);
  }

  @Put(':id')
  @Answers('PublicationTemplateDetail', 'Changes a template')
  @Fails('CONFLICT')
  @Requires('write')
  async update(
    @Param('id', IdPipe) id: number,
    @Body() body: PublicationTemplateChanges,
    @IfMatch() ifMatch: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PublicationTemplateDetail> {
    return tagged(await this.templates.update(id, body, ifMatch), response);
  }

  @Delete(':id')
  @Answers('PublicationTemplateDeleted', 'Deletes a template')
  @Fails('IN_USE')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number): Promise<PublicationTemplateDeleted> {
    return this.templates.remove(id);
  }
}

function tagged(view: PublicationTemplateDetail, response: Response): PublicationTemplateDetail {
  response.setHeader('ETag', versionTag(view.updated_at));
  response.setHeader('Cache-Control', 'no-store');
  return view;
}
