import { Requires } from '@gatehouse/auth';
import { Answers, AnswersFile, Fails } from '@gatehouse/platform';
import type { ImportResult } from '@gatehouse/contracts';
import { Body, Controller, Get, Header, HttpCode, Post, Query, StreamableFile } from '@nestjs/common';
import { ExportNodes } from './export-nodes.js';
import { ImportNodes } from './import-nodes.js';
import { NodeExportQuery, NodeImportBody, NodeImportQuery } from './transfer.dto.js';

/** Nodes as files. A file contains credentials, so reading it needs more than the scope `read`. */
@Controller('proxies')
export class NodeTransferController {
  constructor(
    private readonly exporting: ExportNodes,
    private readonly importing: ImportNodes,
  ) {}

  @Get('export')
  @AnswersFile(['application/json', 'text/plain'], 'The manual nodes as a file')
  @Fails('UNPROCESSABLE')
  @Requires('write')
  @Header('Cache-Control', 'no-store')
  async export(@Query() { format = 'json' }: NodeExportQuery): Promise<StreamableFile> {
    const { content, contentType, fileName } = await this.exporting.run(format);
    return new StreamableFile(Buffer.from(content), {
      type: contentType,
      disposition: `attachment; filename="${fileName}"`,
    });
  }

  @Post('import')
  @Answers('ImportResult', 'Imports nodes from a text or a list')
  @Fails('UNPROCESSABLE')
  @HttpCode(200)
  @Requires('write')
  import(@Body() body: NodeImportBody, @Query() query: NodeImportQuery): Promise<ImportResult> {
    return this.importing.run(body, query);
  }
}
