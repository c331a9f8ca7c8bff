import { Schedules } from '@gatehouse/jobs';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { CertificateBox } from '../data/certificate-box.js';
import { CertificateStore } from '../data/certificate-store.js';
import { ExpiryWarnings } from './expiry-warnings.js';
import { AcmeAccounts } from './acme-accounts.js';
import { AcmeIssuer } from './acme-issuer.js';
import { AcmeOrders } from './acme-orders.js';
import { AcmeSchedule } from './acme-schedule.js';
import { AcmeSweep } from './acme-sweep.js';
import { CertificatesHandler } from './certificates.handler.js';
import { ChallengeBoard } from './challenge-board.js';
import { DnsProofs } from './dns/dns-proofs.js';
import { IssueJournal } from './issue-journal.js';
import { NameLock } from './name-lock.js';
import { RenewalInquiry } from './renewal-inquiry.js';

/** Longest time that a new host waits. */
const EVERY_MS = 10_000;

/** Certificates for hosts, wherever workers run. */
@Module({
  providers: [
    AcmeAccounts,
    AcmeIssuer,
    AcmeOrders,
    AcmeSchedule,
    AcmeSweep,
    CertificateBox,
    CertificateStore,
    CertificatesHandler,
    ChallengeBoard,
    DnsProofs,
    ExpiryWarnings,
    IssueJournal,
    NameLock,
    RenewalInquiry,
  ],
  exports: [AcmeIssuer, AcmeSchedule, AcmeSweep, CertificateStore],
})
export class AcmeModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const payload = { requestedAt: Date.now() };
    await this.schedules.keepOne('certificates', { key: 'certificates', everyMs: EVERY_MS, payload });
  }
}
