import type { Actor } from '@gatehouse/auth';
import type { CertificateView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { AcmeSchedule } from '../acme/acme-schedule.js';
import { OwnedRows } from '../data/owned-rows.js';
import { readUpload } from './certificate-upload.js';
import { CertificateStore } from '../data/certificate-store.js';
import type { CertificateBody } from './certificate.dto.js';
import { CertificatesService } from './certificates.service.js';

/** Uploads and removals of hosts' certificates. */
@Injectable()
export class HostCertificatesService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly store: CertificateStore,
    private readonly schedule: AcmeSchedule,
    private readonly certificates: CertificatesService,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async upload(hostId: number, { certificate, key }: CertificateBody, actor: Actor): Promise<CertificateView> {
    await this.unitOfWork.run(async (tx) => {
      const host = await this.owned.hosts(actor, tx).lock(hostId);
      if (host.certPath !== null)
        throw new AppError('CONFLICT', 'the host has files: set cert_path and key_path to null');
      const uploaded = readUpload({ certificate, key }, host.host, Date.now());
      await this.store.save(hostId, { source: 'upload', ...uploaded }, tx);
      await this.schedule.forget(hostId, tx);
    });
    return this.certificates.get(hostId, actor);
  }

  /** Removes an uploaded or ordered certificate: with `auto_https` a new one is ordered, with a new key. */
  async remove(hostId: number, actor: Actor): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await this.owned.hosts(actor, tx).lock(hostId);
      if (!(await this.store.remove(hostId, tx))) throw new AppError('NOT_FOUND', 'the host has no such certificate');
      await this.schedule.forget(hostId, tx);
    });
  }
}
