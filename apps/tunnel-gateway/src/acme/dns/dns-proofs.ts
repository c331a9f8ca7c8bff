import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../../settings.js';
import { AcmeProblem } from '../acme-problem.js';
import type { ChallengeAnswer } from '../acme-order.js';
import { CloudflareProvider } from './cloudflare-provider.js';
import type { DnsProvider } from './dns-provider.js';
import { UpdateProvider } from './update-provider.js';

/** Also after the order was cancelled. */
const REMOVE_MS = 15_000;

/** Publishes the TXT records that answer DNS-01 (RFC 8555 8.4). */
@Injectable()
export class DnsProofs {
  private readonly provider: DnsProvider | null;

  constructor(
    private readonly settings: TunnelGatewaySettings,
    private readonly logger: JsonLogger,
  ) {
    this.provider = providerOf(settings);
  }

  /** Resolves when the record is published everywhere, as far as is known; the returned function removes it. */
  async show({ name, keyAuthorization }: ChallengeAnswer, signal: AbortSignal): Promise<() => Promise<void>> {
    const record = `_acme-challenge.${name}`;
    const remove = await this.publish(
      record,
      createHash('sha256').update(keyAuthorization).digest('base64url'),
      signal,
    );
    const hide = async (): Promise<void> => {
      try {
        await remove(AbortSignal.timeout(REMOVE_MS));
      } catch (error) {
        // It is of no use to anybody, and no reason to lose a certificate.
        this.logger.warn('a record of DNS-01 was not removed', { record, error: String(error) }, 'Acme');
      }
    };
    try {
      await delay(this.settings.acmeDnsWaitSeconds * 1000, undefined, { signal });
    } catch (error) {
      await hide();
      throw error;
    }
    return hide;
  }

  private async publish(record: string, value: string, signal: AbortSignal): ReturnType<DnsProvider['add']> {
    if (!this.provider) throw new AcmeProblem({ type: 'connection', detail: 'dns-01 needs ACME_DNS_PROVIDER' });
    try {
      return await this.provider.add(record, value, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new AcmeProblem({
        type: 'connection',
        detail: error instanceof Error ? error.message : String(error),
        cause: error,
      });
    }
  }
}

function providerOf(settings: TunnelGatewaySettings): DnsProvider | null {
  if (settings.acmeDnsProvider === 'cloudflare') {
    return new CloudflareProvider({ token: settings.acmeDnsCloudflareToken ?? '', url: settings.acmeDnsCloudflareUrl });
  }
  if (settings.acmeDnsProvider !== 'rfc2136') return null;
  const { acmeDnsAddress: server, acmeDnsZones: zones, acmeDnsTsigName: name = '' } = settings;
  const secret = Buffer.from(settings.acmeDnsTsigSecret ?? '', 'base64');
  return new UpdateProvider({ server, zones, key: { name, secret } });
}
