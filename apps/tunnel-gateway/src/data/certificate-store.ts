import { X509Certificate } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CertificateBox } from './certificate-box.js';
import { certificateFacts, type CertificateFacts } from '../common/certificate-facts.js';
import { certificatePlace } from '../common/key-box.js';

export interface NewCertificate {
  source: 'upload' | 'acme';
  /** PEM, the host's own first. */
  chain: string;
  /** PEM. */
  key: string;
}

export interface StoredCertificate extends CertificateFacts {
  hostId: number;
  source: NewCertificate['source'];
}

const READ = `
  SELECT host_id::float8 AS "hostId", source, subject, names, issuer, not_before AS "notBefore", not_after AS "notAfter"
  FROM tunnel_gateway_ops.certificates WHERE host_id = ANY($1)`;

const SAVE = `
  INSERT INTO tunnel_gateway_ops.certificates AS k
    (host_id, source, chain, sealed_key, subject, names, issuer, not_before, not_after)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (host_id) DO UPDATE SET
    source = EXCLUDED.source, chain = EXCLUDED.chain, sealed_key = EXCLUDED.sealed_key, subject = EXCLUDED.subject,
    names = EXCLUDED.names, issuer = EXCLUDED.issuer, not_before = EXCLUDED.not_before,
    not_after = EXCLUDED.not_after, updated_at = now()
  WHERE EXCLUDED.source = 'upload' OR k.source = 'acme'`;

/** Certificates with their keys, which are sealed here and opened only by the data plane. */
@Injectable()
export class CertificateStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly box: CertificateBox,
  ) {}

  /** Replaces the host's certificate; an uploaded one is never replaced by an ordered one. */
  async save(hostId: number, { source, chain, key }: NewCertificate, tx: EntityManager): Promise<CertificateFacts> {
    const facts = certificateFacts(new X509Certificate(chain));
    const { subject, names, issuer, notBefore, notAfter } = facts;
    const sealed = this.box.seal(certificatePlace(hostId), key);
    await tx.query(SAVE, [hostId, source, chain, sealed, subject, names, issuer, notBefore, notAfter]);
    return facts;
  }

  /** Returns whether there was one. */
  async remove(hostId: number, tx: EntityManager): Promise<boolean> {
    const sql = 'DELETE FROM tunnel_gateway_ops.certificates WHERE host_id = $1 RETURNING id';
    const [removed] = (await tx.query(sql, [hostId])) as [unknown[], number];
    return removed.length > 0;
  }

  /** By host. */
  async of(hostIds: readonly number[]): Promise<Map<number, StoredCertificate>> {
    if (hostIds.length === 0) return new Map();
    const rows: StoredCertificate[] = await this.dataSource.query(READ, [[...hostIds]]);
    return new Map(rows.map((row) => [row.hostId, row]));
  }
}
