import { Requires } from '@gatehouse/auth';
import { Answers, AnswersFile, Fails } from '@gatehouse/platform';
import type { ImportResult } from '@gatehouse/contracts';
import { Body, Controller, Get, HttpCode, Post, Query, StreamableFile } from '@nestjs/common';
import { RuleExport } from './rule-export.service.js';
import { RuleImport } from './rule-import.service.js';
import { RuleExportQuery, RuleImportBody, RuleImportQuery } from './rule-transfer.dto.js';

@Controller('rules')
export class RuleTransferController {
  constructor(
    private readonly exporter: RuleExport,
    private readonly importer: RuleImport,
  ) {}

  /** Manual rules only; the others come from their own sources. */
  @Get('export')
  @AnswersFile(['application/json', 'text/plain', 'application/yaml'], 'The manual rules as a file')
  @Requires('read')
  async export(@Query() { format = 'json' }: RuleExportQuery): Promise<StreamableFile> {
    const { name, contentType, content } = await this.exporter.file(format);
    return new StreamableFile(Buffer.from(content), {
      type: contentType,
      disposition: `attachment; filename="${name}"`,
    });
  }

  @Post('import')
  @Answers('ImportResult', 'Imports rules from a text or a list')
  @Fails('UNPROCESSABLE')
  @HttpCode(200)
  @Requires('write')
  import(@Query() query: RuleImportQuery, @Body() body: RuleImportBody): Promise<ImportResult> {
    return this.importer.run(body, { dryRun: query.dry_run === 'true', allowEmpty: query.allow_empty === 'true' });
  }
}
