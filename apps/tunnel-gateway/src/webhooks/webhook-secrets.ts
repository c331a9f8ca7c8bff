import { createSecretBox, loadSecretKeys, openFromRow, sealForRow, type SecretBox } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { createWebhookSecret } from './webhook-signature.js';

export const WEBHOOKS_TABLE = 'webhooks';

/** Secrets of webhooks: shown once, stored sealed. */
@Injectable()
export class WebhookSecrets {
  private readonly box: SecretBox;

  constructor({ home, secretKey }: TunnelGatewaySettings) {
    this.box = createSecretBox(loadSecretKeys({ home, envValue: secretKey }));
  }

  /** `id`: of the webhook. The secret cannot be opened in another row. */
  create(id: number): { secret: string; sealed: string } {
    const secret = createWebhookSecret();
    return { secret, sealed: sealForRow(this.box, { table: WEBHOOKS_TABLE, id }, secret) };
  }

  /** @throws SecretBoxError if it was sealed with another key, or for another webhook. */
  open(id: number, sealed: string): string {
    return openFromRow(this.box, { table: WEBHOOKS_TABLE, id }, sealed);
  }
}
