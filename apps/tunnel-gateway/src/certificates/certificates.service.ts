import { X509Certificate } from 'node:crypto';
import type { Actor } from '@gatehouse/auth';
import type { CertificatePage, CertificateView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { AcmeSchedule, type AcmeState } from '../acme/acme-schedule.js';
import { readCertificatePair } from '../common/certificate-files.js';
import type { Host } from '../data/host.entity.js';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { TunnelGatewaySettings } from '../settings.js';
import { certificateFacts, namesCover } from '../common/certificate-facts.js';
import { CertificateStore, type StoredCertificate } from '../data/certificate-store.js';
import type { CertificateQuery } from './certificate.dto.js';
import { toCertificateView } from './certificate.view.js';

const UPLOADED = `EXISTS (
  SELECT 1 FROM tunnel_gateway_ops.certificates k WHERE k.host_id = row.id AND k.source = 'upload')`;
const ORDERED = `(
  EXISTS (SELECT 1 FROM tunnel_gateway_ops.certificates k WHERE k.host_id = row.id AND k.source = 'acme')
  OR (row.auto_https = 1 AND coalesce(row.scheme, 'all') <> 'http' AND row.host <> '*' AND NOT ${UPLOADED}))`;
const BY_SOURCE = {
  file: 'row.cert_path IS NOT NULL',
  upload: `row.cert_path IS NULL AND ${UPLOADED}`,
  acme: `row.cert_path IS NULL AND ${ORDERED}`,
};
const ANY = `row.cert_path IS NOT NULL OR ${UPLOADED} OR ${ORDERED}`;

const NO_TERMS = 'nothing is ordered: ACME_AGREE_TERMS is not true';
const NO_PROVIDER = 'nothing is ordered: ACME_DNS_PROVIDER is not set';

/** Certificates of hosts. They are found through their hosts, each of which has one at most. */
@Injectable()
export class CertificatesService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly store: CertificateStore,
    private readonly schedule: AcmeSchedule,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  async list(query: CertificateQuery, actor: Actor): Promise<CertificatePage> {
    const { items, next_cursor } = await this.owned.hosts(actor).page(query, conditionsOf(query));
    return { items: await this.views(items), next_cursor };
  }

  /** @throws AppError NOT_FOUND for a host that neither has a certificate nor should get one. */
  async get(hostId: number, actor: Actor): Promise<CertificateView> {
    const [host] = await this.owned
      .hosts(actor)
      .some([{ sql: 'row.id = :id', parameters: { id: hostId } }, { sql: ANY }]);
    const [view] = host ? await this.views([host]) : [];
    if (!view) throw new AppError('NOT_FOUND', `There is no certificate ${hostId}`);
    return view;
  }

  private async views(hosts: readonly Host[]): Promise<CertificateView[]> {
    const standIns = await this.schedule.hostsOf(hosts.map(({ host }) => host));
    const ids = [...new Set([...hosts.map(({ id }) => id), ...standIns.values()])];
    const [stored, states] = [await this.store.of(ids), await this.schedule.states(ids)];
    return hosts.map((host) => {
      // Of several hosts of one name, one gets the certificate for all.
      const standIn = standIns.get(host.host) ?? host.id;
      return this.view(host, stored.get(host.id) ?? stored.get(standIn), states.get(standIn));
    });
  }

  private view(host: Host, stored: StoredCertificate | undefined, state: AcmeState | undefined): CertificateView {
    const now = Date.now();
    if (host.certPath !== null) return toCertificateView({ host, source: 'file', ...this.ofFiles(host), state, now });
    const covers = stored !== undefined && namesCover(stored.names, host.host);
    if (stored?.source === 'upload') {
      const problem = covers ? null : `it is not for ${host.host}`;
      return toCertificateView({ host, source: 'upload', facts: stored, problem, state, now });
    }
    const { acmeAgreeTerms, acmeDnsProvider } = this.settings;
    const isUnprovable = host.host.startsWith('*') && acmeDnsProvider === undefined;
    const missing = acmeAgreeTerms ? (isUnprovable ? NO_PROVIDER : null) : NO_TERMS;
    const facts = covers ? stored : null;
    return toCertificateView({
      host,
      source: 'acme',
      facts,
      problem: missing,
      state: acmeAgreeTerms ? state : undefined,
      now,
    });
  }

  private ofFiles({ certPath, keyPath }: Host): { facts: StoredFacts; problem: string | null } {
    try {
      const paths = { certPath: certPath ?? '', keyPath: keyPath ?? '' };
      const { chain } = readCertificatePair(this.settings.certificateFolder, paths);
      return { facts: certificateFacts(new X509Certificate(chain)), problem: null };
    } catch (error) {
      // Only administrators may see the paths of files.
      if (error instanceof RangeError) return { facts: null, problem: 'its files cannot be used' };
      throw error;
    }
  }
}

type StoredFacts = ReturnType<typeof certificateFacts> | null;

function conditionsOf({ client_id: clientId, source }: CertificateQuery): Condition[] {
  return [
    { sql: source === undefined ? ANY : BY_SOURCE[source] },
    ...(clientId === undefined ? [] : [{ sql: 'row.client_id = :clientId', parameters: { clientId } }]),
  ];
}
