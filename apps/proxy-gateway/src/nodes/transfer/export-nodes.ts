import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { NodeEntity } from '../../data/node.entity.js';
import { nodeName } from '../node.view.js';
import { NodeVault, UNREADABLE_NODE } from '../../data/node-vault.js';
import { toExportItem, toLinkLine, toTextLine } from './write-export.js';
import type { ExportedNode, ExportFormat } from './write-export.js';

export interface NodeExport {
  fileName: string;
  contentType: string;
  content: string;
}

type Row = Pick<
  NodeEntity,
  'id' | 'customName' | 'originalName' | 'fingerprint' | 'config' | 'enabled' | 'country' | 'countrySource' | 'tags'
>;

const SELECT_MANUAL = `
  SELECT id, custom_name AS "customName", original_name AS "originalName", fingerprint, config, enabled, country,
    country_source AS "countrySource", tags
  FROM nodes WHERE source = 'manual' ORDER BY id`;

/** Nodes written before yielding to the event loop, since thousands of them take a while. */
const BATCH = 250;

/** Writes the nodes that users added by hand to one file, including their secrets. */
@Injectable()
export class ExportNodes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly vault: NodeVault,
  ) {}

  async run(format: ExportFormat): Promise<NodeExport> {
    const rows: Row[] = await this.dataSource.query(SELECT_MANUAL);
    const date = new Date().toISOString().slice(0, 10);
    if (format === 'json') {
      const items = await this.each(rows, toExportItem);
      return {
        fileName: `nodes-${date}.json`,
        contentType: 'application/json; charset=utf-8',
        content: `${JSON.stringify(items, null, 2)}\n`,
      };
    }
    const lines = await this.each(rows, format === 'links' ? toLinkLine : toTextLine);
    return {
      fileName: `nodes-${date}.txt`,
      contentType: 'text/plain; charset=utf-8',
      content: lines.map((line) => `${line}\n`).join(''),
    };
  }

  private async each<T>(rows: readonly Row[], write: (node: ExportedNode) => T): Promise<T[]> {
    const written: T[] = [];
    for (const row of rows) {
      written.push(write(this.open(row)));
      if (written.length % BATCH === 0) await nextTurn();
    }
    return written;
  }

  /** @throws AppError UNPROCESSABLE for a node that cannot be opened: a file without it would look complete. */
  private open(row: Row): ExportedNode {
    const node = this.vault.tryOpen(row);
    if (!node) throw new AppError('UNPROCESSABLE', `Node ${row.id} (${nodeName(row)}): ${UNREADABLE_NODE}`);
    const { fingerprint, enabled, tags } = row;
    const country = row.countrySource === 'manual' ? row.country : null;
    return { node: { ...node, name: nodeName(row) }, fingerprint, enabled, country, tags };
  }
}
