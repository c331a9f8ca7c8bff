import { CurrentActor, Requires, type Actor } from '@gatehouse/auth';
import type { TransferArchive, TransferImportView, TransferRestoreView } from '@gatehouse/contracts';
import { Answers, Fails } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Ip, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Exporter } from './archive/exporter.js';
import { Restorer } from './archive/restorer.js';
import { Importer } from './import/importer.js';
import { ExportQuery, ImportBody, RestoreBody } from './transfer.dto.js';

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
  @Answers(
    'TransferImportView',
    'Takes over a configuration of frp or nps, all of it or nothing, and says what of each line',
  )
  import(@Body() body: ImportBody, @CurrentActor() actor: Actor): Promise<TransferImportView> {
    return this.importer.run(body, actor);
  }

  @Get('export')
  @Answers('TransferArchive', 'Everything that people have set up, without secrets')
  export(@Query() { hashes }: ExportQuery): Promise<TransferArchive> {
    return this.exporter.run(hashes === 'true');
  }

  @Post('restore')
  @HttpCode(200)
  @Answers('TransferRestoreView', 'Sets up what an export holds, all of it or nothing')
  @Fails('CONFLICT', 'PORT_IN_USE', 'PORT_RESERVED', 'HOST_CONFLICT', 'SELF_LOCKOUT')
  restore(
    @Body() { archive }: RestoreBody,
    @CurrentActor() actor: Actor,
    @Ip() address: string,
  ): Promise<TransferRestoreView> {
    return this.restorer.run(archive, actor, address);
  }
}
