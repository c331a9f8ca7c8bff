import { type Actor, CurrentActor, requireLogin, Requires, RequiresLogin } from '@gatehouse/auth';
import type { TransferArchive, TransferImportView, TransferRestoreView } from '@gatehouse/contracts';
import { Answers, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Ip, Post, Query, Req, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { ArchiveBody } from './archive/archive-body.js';
import { Exporter } from './archive/exporter.js';
import { Restorer } from './archive/restorer.js';
import { isTable } from './import/fields.js';
import { Importer } from './import/importer.js';
import { fieldError } from '../wire/field-error.js';
import { ExportQuery, ImportBody } from './transfer.dto.js';

@ApiTags('transfer')
@Requires('admin')
@Controller('transfer')
export class TransferController {
  constructor(
    private readonly importer: Importer,
    private readonly exporter: Exporter,
    private readonly restorer: Restorer,
  ) {}

  @Post('import')
  @HttpCode(200)
  @Answers('TransferImportView', 'Imports a configuration of frp or nps')
  import(@Body() body: ImportBody, @CurrentActor() actor: Actor): Promise<TransferImportView> {
    return this.importer.run(body, actor);
  }

  @Get('export')
  @Answers('TransferArchive', 'Exports the configuration')
  export(@Query() { hashes }: ExportQuery, @CurrentActor() actor: Actor): Promise<TransferArchive> {
    if (hashes === 'true') requireLogin(actor);
    return this.exporter.run(hashes === 'true');
  }

  @Post('restore')
  @RequiresLogin()
  @HttpCode(200)
  @Answers('TransferRestoreView', 'Restores an export', { body: 'TransferRestoreBody' })
  @UseGuards(ArchiveBody)
  @Fails('CONFLICT', 'PORT_IN_USE', 'PORT_RESERVED', 'HOST_CONFLICT', 'SELF_LOCKOUT')
  restore(@Req() request: Request, @CurrentActor() actor: Actor, @Ip() address: string): Promise<TransferRestoreView> {
    return this.restorer.run(archiveOf(request.body), actor, address);
  }
}

function archiveOf(body: unknown): Record<string, unknown> {
  const archive = isTable(body) ? body['archive'] : undefined;
  if (!isTable(archive)) throw fieldError('archive', 'must be an archive from GET /transfer/export');
  return archive;
}
