import { Resolver } from 'node:dns/promises';
import { AppError, JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';

const LABEL = '_gatehouse-challenge';
/** For one query; a slow resolver is asked twice. */
const TIMEOUT_MS = 3_000;
const TRIES = 2;
/** Concurrent queries of this process. */
const MAX_QUESTIONS = 16;
/** The name does not exist, or has no such record. */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'NOTFOUND', 'NODATA']);

/** The name of the TXT record. */
export const recordOf = (name: string): string => `${LABEL}.${name}`;

/** Looks up the TXT records that prove who owns a name. */
@Injectable()
export class DomainProof {
  private asking = 0;

  constructor(
    private readonly settings: TunnelGatewaySettings,
    private readonly logger: JsonLogger,
  ) {}

  /**
   * Queries the DNS once. @throws AppError CONFLICT without such a record, SERVICE_UNAVAILABLE if the resolver does not
   * answer or there are too many queries
   */
  async require(name: string, challenge: string): Promise<void> {
    const texts = await this.texts(recordOf(name));
    if (texts.includes(challenge)) return;
    const found = texts.length === 0 ? 'there is no TXT record' : `none of the ${texts.length} TXT records fits`;
    throw new AppError('CONFLICT', `name: ${found} at ${recordOf(name)}; expected: ${challenge}`);
  }

  private async texts(record: string): Promise<string[]> {
    if (this.asking >= MAX_QUESTIONS) throw new AppError('SERVICE_UNAVAILABLE', 'Too many names are being looked up');
    this.asking += 1;
    // One for each query: no cached answers, and no shared socket.
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    try {
      if (this.settings.dnsServers.length > 0) resolver.setServers(this.settings.dnsServers);
      return (await resolver.resolveTxt(record)).map((parts) => parts.join('').trim());
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== undefined && ABSENT.has(code)) return [];
      this.logger.warn('a TXT record could not be looked up', { record, code }, 'Domains');
      throw new AppError('SERVICE_UNAVAILABLE', `The DNS gave no answer for ${record} (${code ?? 'unknown'})`, {
        cause: error,
      });
    } finally {
      this.asking -= 1;
    }
  }
}
