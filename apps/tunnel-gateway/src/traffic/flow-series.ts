import type { CountedResource, FlowPoint } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BUCKET_KINDS, type Bucket, type BucketRange } from './bucket.js';

interface Row {
  starts_at: Date;
  inlet_bytes: number;
  export_bytes: number;
  connections: number;
}

/** Traffic over time. The caller must have checked that the actor may see the resource. */
@Injectable()
export class SeriesReader {
  constructor(private readonly dataSource: DataSource) {}

  async points(kind: CountedResource, id: number, bucket: Bucket, { first, last }: BucketRange): Promise<FlowPoint[]> {
    const { table, ms } = BUCKET_KINDS[bucket];
    const rows = (await this.dataSource.query(
      `SELECT starts_at, inlet_bytes, export_bytes, connections FROM ${table}
       WHERE resource_type = $1 AND resource_id = $2 AND starts_at BETWEEN $3 AND $4`,
      [kind, id, new Date(first), new Date(last)],
    )) as Row[];
    const found = new Map(rows.map((row) => [row.starts_at.getTime(), row]));
    return Array.from({ length: (last - first) / ms + 1 }, (_, index) => {
      const at = first + index * ms;
      const { inlet_bytes = 0, export_bytes = 0, connections = 0 } = found.get(at) ?? {};
      return {
        at: new Date(at).toISOString(),
        inlet_bytes: Number(inlet_bytes),
        export_bytes: Number(export_bytes),
        connections: Number(connections),
      };
    });
  }
}
