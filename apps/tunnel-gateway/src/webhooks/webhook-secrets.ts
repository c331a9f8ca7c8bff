import { createSecretBox, loadSecretKeys, type SecretBox } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { createWebhookSecret } from './webhook-signature.js';

export const WEBHOOKS_PLACE = 'webhooks';

/** Secrets of webhooks: shown once, kept sealed. */
@Injectable()
export class WebhookSecrets {
  private readonly box: SecretBox;

  constructor({ home, secretKey }: TunnelGatewaySettings) {
    this.box = createSecretBox(loadSecretKeys({ home, envValue: secretKey }));
  }

  create(): { secret: string; sealed: string } {
    const secret = createWebhookSecret();
    return { secret, sealed: this.box.seal(secret, WEBHOOKS_PLACE) };
  }

  /** @throws SecretBoxError when another key sealed it. */
  open(sealed: string): string {
    return this.box.open(sealed, WEBHOOKS_PLACE);
  }
}
