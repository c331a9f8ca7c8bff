import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { MANUAL, readRules } from '../rule-rows.store.js';
import { loadTargetNames } from '../target-names.js';
import { formatClash, formatJson, formatText } from './format-rules.js';
import type { RuleExportFormat } from './rule-transfer.dto.js';

export interface RuleFile {
  name: string;
  contentType: string;
  content: string;
}

const WRITERS = {
  json: { write: formatJson, extension: 'json', contentType: 'application/json; charset=utf-8' },
  text: { write: formatText, extension: 'txt', contentType: 'text/plain; charset=utf-8' },
  txt: { write: formatText, extension: 'txt', contentType: 'text/plain; charset=utf-8' },
  clash: { write: formatClash, extension: 'yaml', contentType: 'application/yaml; charset=utf-8' },
} as const satisfies Record<RuleExportFormat, object>;

/** Writes the manual rules to a file that the import can read. */
@Injectable()
export class RuleExport {
  constructor(private readonly dataSource: DataSource) {}

  async file(format: RuleExportFormat): Promise<RuleFile> {
    const { rules, names } = await this.dataSource.transaction('REPEATABLE READ', async (tx) => ({
      rules: await readRules(tx, MANUAL),
      names: await loadTargetNames(tx),
    }));
    const { write, extension, contentType } = WRITERS[format];
    const now = new Date();
    const readable = rules.map((rule) => ({ ...rule, target: names.readable(rule.target) }));
    const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
    return { name: `gatehouse-rules-${stamp}.${extension}`, contentType, content: write(readable, now) };
  }
}
