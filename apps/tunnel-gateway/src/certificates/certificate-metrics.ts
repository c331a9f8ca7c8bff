import { MetricsRegistry } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Of hosts that are served; those whose certificates are files are in warnings alone. */
const READ = `
  SELECT count(*) FILTER (WHERE k.not_after > now())::integer AS valid,
    count(*) FILTER (WHERE k.not_after <= now())::integer AS expired,
    extract(epoch FROM min(k.not_after))::float8 AS earliest
  FROM tunnel_gateway_ops.certificates k JOIN tunnel_gateway.hosts h ON h.id = k.host_id
  WHERE h.status = 1 AND h.cert_path IS NULL`;

interface Row {
  valid: number;
  expired: number;
  earliest: number | null;
}

/** How long the certificates of hosts last: one read for each scrape. */
@Injectable()
export class CertificateMetrics {
  constructor(metrics: MetricsRegistry, dataSource: DataSource) {
    const certificates = metrics.gauge('gatehouse_certificates', 'Certificates of hosts that are served, by state', [
      'state',
    ]);
    const earliest = metrics.gauge(
      'gatehouse_certificate_earliest_expiry_timestamp_seconds',
      'When the first of these certificates expires, in seconds since 1970; absent without certificates',
      // A label, so that there is no value at all before one is known.
      ['source'],
    );
    const read = (): Promise<Row[]> => dataSource.query<Row[]>(READ);
    metrics.readOnScrape('certificates', [certificates, earliest], read, ([row]) => {
      if (row === undefined) return;
      certificates.set({ state: 'valid' }, row.valid);
      certificates.set({ state: 'expired' }, row.expired);
      if (row.earliest !== null) earliest.set({ source: 'stored' }, row.earliest);
    });
  }
}
