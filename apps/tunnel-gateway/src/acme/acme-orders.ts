import { X509Certificate } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { AcmeAccounts, type OpenAccount } from './acme-accounts.js';
import { orderCertificate, type ChallengeAnswer, type ChallengeType, type IssuedCertificate } from './acme-order.js';
import { AcmeProblem } from './acme-problem.js';
import type { Wish } from './acme-schedule.js';
import { ChallengeBoard } from './challenge-board.js';
import { DnsProofs } from './dns/dns-proofs.js';
import { renewalId, timeInWindow } from './renewal.js';

/** Orders at the configured authority. */
@Injectable()
export class AcmeOrders {
  constructor(
    private readonly accounts: AcmeAccounts,
    private readonly board: ChallengeBoard,
    private readonly proofs: DnsProofs,
    private readonly settings: TunnelGatewaySettings,
  ) {}

  /** Each attempt uses the next type of challenge. @throws AcmeProblem */
  async order({ name, failures, chain }: Wish, signal: AbortSignal): Promise<IssuedCertificate> {
    const challenge = this.challengeFor(name, failures);
    const replaces = chain === null ? null : renewalId(new X509Certificate(chain));
    const show = (answer: ChallengeAnswer): Promise<() => Promise<void>> =>
      answer.type === 'dns-01' ? this.proofs.show(answer, signal) : this.board.show(answer);
    return this.withAccount(signal, ({ client, key: accountKey }) =>
      orderCertificate({ client, accountKey, name, challenge, replaces, show }),
    );
  }

  /** The renewal time that the authority suggests, if that is before `planned`; else null. @throws AcmeProblem */
  async wantedRenewal(chain: string, planned: number, signal: AbortSignal): Promise<number | null> {
    const id = renewalId(new X509Certificate(chain));
    if (id === null) return null;
    const info = await this.withAccount(signal, ({ client }) => client.renewalInfo(id));
    return info === null ? null : timeInWindow(info.value['suggestedWindow'], planned, Math.random());
  }

  /** Each attempt uses the next type; only DNS can prove a wildcard (RFC 8555 7.1.3). */
  private challengeFor(name: string, failures: number): ChallengeType {
    const { acmeChallenges } = this.settings;
    if (name.startsWith('*.')) return 'dns-01';
    return acmeChallenges[failures % acmeChallenges.length] ?? 'http-01';
  }

  private async withAccount<T>(signal: AbortSignal, work: (account: OpenAccount) => Promise<T>): Promise<T> {
    try {
      return await work(await this.accounts.open(signal));
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.type !== 'accountDoesNotExist') throw error;
      return work(await this.accounts.open(signal, true));
    }
  }
}
