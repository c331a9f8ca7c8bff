import type { Actor } from '@gatehouse/auth';
import type { CertificateView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { AcmeSchedule, type AcmeState } from '../acme/acme-schedule.js';
import { AcmeSweep } from '../acme/acme-sweep.js';
import { OwnedRows } from '../data/owned-rows.js';
import { TunnelGatewaySettings } from '../settings.js';
import { CertificatesService } from './certificates.service.js';

/** Repeated requests must not use up the authority's limits for a name. */
const ORDER_AGAIN_MS = 3_600_000;
const TRY_AGAIN_MS = 60_000;

/** Requests of users to order a certificate now. */
@Injectable()
export class RenewalRequests {
  constructor(
    private readonly owned: OwnedRows,
    private readonly schedule: AcmeSchedule,
    private readonly sweep: AcmeSweep,
    private readonly certificates: CertificatesService,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  /** Resolves when the order was queued. */
  async request(hostId: number, actor: Actor): Promise<CertificateView> {
    const host = await this.owned.hosts(actor).one(hostId);
    if (!this.settings.acmeAgreeTerms)
      throw new AppError('UNPROCESSABLE', 'ACME_AGREE_TERMS is not true, so no certificate is ordered');
    const { source } = await this.certificates.get(hostId, actor).catch(none);
    const standIn = (await this.schedule.hostsOf([host.host])).get(host.host);
    if (source !== 'acme' || standIn === undefined) {
      throw new AppError(
        'UNPROCESSABLE',
        'no certificate is ordered for it: that needs auto_https, status 1, a name without * and no files',
      );
    }
    refuseHaste((await this.schedule.states([standIn])).get(standIn));
    await this.schedule.bringForward(standIn, new Date());
    await this.sweep.orderSoon(standIn);
    return this.certificates.get(hostId, actor);
  }
}

function none(error: unknown): { source: null } {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return { source: null };
  throw error;
}

/** @throws AppError RATE_LIMITED */
function refuseHaste(state: AcmeState | undefined): void {
  if (!state?.triedAt) return;
  const again = +state.triedAt + (state.failures === 0 ? ORDER_AGAIN_MS : TRY_AGAIN_MS);
  const wait = Math.max(again, +(state.blockedUntil ?? 0)) - Date.now();
  if (wait <= 0) return;
  const reason = state.blockedUntil ? 'the authority does not want to be asked yet' : 'one was ordered a moment ago';
  throw new AppError('RATE_LIMITED', reason, { retryAfterSeconds: wait / 1000, limit: 'certificate_renewal' });
}
