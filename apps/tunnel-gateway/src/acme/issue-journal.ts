import { UnitOfWork } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CertificateStore } from '../data/certificate-store.js';
import { EventLog } from '../events/event-log.js';
import type { IssuedCertificate } from './acme-order.js';
import { AcmeProblem } from './acme-problem.js';
import { AcmeSchedule, type Wish } from './acme-schedule.js';
import { backOff, renewalTime } from './renewal.js';

/** Upper bound for an authority's `Retry-After`. */
const LONGEST_BLOCK_MS = 7 * 86_400_000;

/** Records the outcome of orders: the certificate, the next time and the event, atomically. */
@Injectable()
export class IssueJournal {
  constructor(
    private readonly schedule: AcmeSchedule,
    private readonly certificates: CertificateStore,
    private readonly unitOfWork: UnitOfWork,
    private readonly events: EventLog,
    private readonly logger: JsonLogger,
  ) {}

  /** Whether another host of that name had a certificate. */
  async adopted(wish: Wish): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      if (!(await this.schedule.holds(wish, tx))) return false;
      const lifetime = await this.schedule.adopt(wish, tx);
      if (lifetime) await this.schedule.succeeded(wish.hostId, planned(lifetime), tx);
      return lifetime !== null;
    });
  }

  /** False if the host was removed or renamed. */
  async issued(wish: Wish, issued: IssuedCertificate): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      if (!(await this.schedule.holds(wish, tx))) return false;
      const facts = await this.certificates.save(wish.hostId, { source: 'acme', ...issued }, tx);
      await this.schedule.succeeded(wish.hostId, planned(facts), tx);
      const type = wish.chain === null ? 'cert.issued' : 'cert.renewed';
      const until = facts.notAfter.toISOString();
      await this.record(wish, type, `${wish.name} has a certificate until ${until}`, { not_after: until }, tx);
      return true;
    });
  }

  /** The current certificate stays in use. */
  async failed(wish: Wish, error: unknown): Promise<void> {
    const known = error instanceof AcmeProblem;
    // Internal errors go to the log, not to the owner of the host.
    const message = known ? error.message : 'internal: the order could not be finished; see the log of the gateway';
    const cause = error instanceof Error && !known ? (error.stack ?? error.message) : String(error);
    this.logger.warn('a certificate was not issued', { host: wish.hostId, name: wish.name, error: cause }, 'Acme');
    const now = Date.now();
    const blocked = known && error.retryAt !== null ? Math.min(error.retryAt, now + LONGEST_BLOCK_MS) : null;
    const nextAt = new Date(Math.max(now + backOff(wish.failures + 1, Math.random()), blocked ?? 0));
    const blockedUntil = blocked === null ? null : new Date(blocked);
    await this.unitOfWork.run(async (tx) => {
      await this.schedule.failed(wish.hostId, { message, nextAt, blockedUntil }, tx);
      const data = { failures: wish.failures + 1, next_at: nextAt.toISOString() };
      await this.record(wish, 'cert.failed', `${wish.name} got no certificate: ${message}`, data, tx);
    });
  }

  private async record(
    { hostId, name, ownerUserId }: Wish,
    type: 'cert.issued' | 'cert.renewed' | 'cert.failed',
    message: string,
    facts: Record<string, unknown>,
    tx: EntityManager,
  ): Promise<void> {
    const resource = { kind: 'host', id: hostId } as const;
    await this.events.record({ type, resource, ownerUserId, message, data: { name, ...facts } }, tx);
  }
}

function planned({ notBefore, notAfter }: { notBefore: Date; notAfter: Date }): Date {
  return new Date(renewalTime({ notBefore: +notBefore, notAfter: +notAfter }, Math.random()));
}
