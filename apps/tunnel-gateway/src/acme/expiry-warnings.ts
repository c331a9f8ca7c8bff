import { X509Certificate } from 'node:crypto';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { expiresSoon } from './renewal.js';
import { EventLog } from '../events/event-log.js';
import { readCertificatePair } from '../common/certificate-files.js';
import { TunnelGatewaySettings } from '../settings.js';

const FILES_EVERY_MS = 3_600_000;

interface Expiring {
  hostId: number;
  name: string;
  ownerUserId: number;
  notAfter: Date;
}

interface FileRow extends Omit<Expiring, 'notAfter'> {
  certPath: string;
  keyPath: string;
}

const HOSTS = `
  tunnel_gateway.hosts h JOIN tunnel_gateway.clients c ON c.id = h.client_id
  LEFT JOIN tunnel_gateway_ops.certificate_warnings w ON w.host_id = h.id`;
const COLUMNS = 'h.id::float8 AS "hostId", h.host AS name, c.owner_user_id::float8 AS "ownerUserId"';

/** The SQL form of `expiresSoon`. */
const STORED = `
  SELECT ${COLUMNS}, k.not_after AS "notAfter" FROM ${HOSTS} JOIN tunnel_gateway_ops.certificates k ON k.host_id = h.id
  WHERE h.status = 1 AND h.cert_path IS NULL AND w.not_after IS DISTINCT FROM k.not_after
    AND k.not_after < now() + least((k.not_after - k.not_before) / 4, interval '14 days')
  ORDER BY k.not_after LIMIT 100`;
const FILES = `
  SELECT ${COLUMNS}, h.cert_path AS "certPath", h.key_path AS "keyPath" FROM ${HOSTS}
  WHERE h.status = 1 AND h.cert_path IS NOT NULL AND h.key_path IS NOT NULL ORDER BY h.id`;
const SAID = `
  INSERT INTO tunnel_gateway_ops.certificate_warnings AS w (host_id, not_after) VALUES ($1, $2)
  ON CONFLICT (host_id) DO UPDATE SET not_after = EXCLUDED.not_after
  WHERE w.not_after IS DISTINCT FROM EXCLUDED.not_after RETURNING host_id`;

/** Warnings for files that were replaced. */
const OVER = 'DELETE FROM tunnel_gateway_ops.certificate_warnings WHERE host_id = ANY($1)';

/** Warns once about each certificate that expires soon, whatever its origin. */
@Injectable()
export class ExpiryWarnings {
  private filesReadAt = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly events: EventLog,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  /** Resolves to the number of warnings. */
  async run(now = Date.now()): Promise<number> {
    const stored: Expiring[] = await this.dataSource.query(STORED);
    const all = [...stored, ...(await this.inFiles(now))];
    let said = 0;
    for (const expiring of all) said += Number(await this.unitOfWork.run((tx) => this.say(expiring, tx)));
    return said;
  }

  private async inFiles(now: number): Promise<Expiring[]> {
    if (now - this.filesReadAt < FILES_EVERY_MS) return [];
    this.filesReadAt = now;
    const rows: FileRow[] = await this.dataSource.query(FILES);
    const read = rows.flatMap(({ certPath, keyPath, ...host }) => {
      const lifetime = this.lifetimeOf(certPath, keyPath);
      const notAfter = new Date(lifetime?.notAfter ?? 0);
      return lifetime ? [{ ...host, notAfter, isSoon: expiresSoon(lifetime, now) }] : [];
    });
    await this.dataSource.query(OVER, [read.filter(({ isSoon }) => !isSoon).map(({ hostId }) => hostId)]);
    return read.filter(({ isSoon }) => isSoon);
  }

  private lifetimeOf(certPath: string, keyPath: string): { notBefore: number; notAfter: number } | null {
    try {
      const pair = readCertificatePair(this.settings.certificateFolder, { certPath, keyPath });
      const { validFromDate, validToDate } = new X509Certificate(pair.chain);
      return { notBefore: +validFromDate, notAfter: +validToDate };
    } catch (error) {
      // The data plane reports problems with files.
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  private async say({ hostId, name, ownerUserId, notAfter }: Expiring, tx: EntityManager): Promise<boolean> {
    const first = (await tx.query(SAID, [hostId, notAfter])) as unknown[];
    if (first.length === 0) return false;
    const until = notAfter.toISOString();
    await this.events.record(
      {
        type: 'cert.expiring',
        resource: { kind: 'host', id: hostId },
        ownerUserId,
        message: `The certificate of ${name} ends at ${until}`,
        data: { name, not_after: until },
      },
      tx,
    );
    return true;
  }
}
