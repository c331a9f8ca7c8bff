import {
  openFromRow,
  rowPlace,
  SECRET_BOX,
  sealForRow,
  type SealedColumn,
  type SecretBox,
} from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { createWebhookSecret } from './webhook-signature.js';
import { WEBHOOK_SETUP, type WebhookSetup } from './webhook-setup.js';

/** Secrets of webhooks: shown once, stored sealed. */
@Injectable()
export class WebhookSecrets {
  constructor(
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    @Inject(WEBHOOK_SETUP) private readonly setup: WebhookSetup,
  ) {}

  /** `id`: of the webhook. The secret cannot be opened in another row. */
  create(id: number): { secret: string; sealed: string } {
    const secret = createWebhookSecret();
    return { secret, sealed: sealForRow(this.box, { table: this.setup.sealedAs, id }, secret) };
  }

  /** @throws SecretBoxError if it was sealed with another key, or for another webhook. */
  open(id: number, sealed: string): string {
    return openFromRow(this.box, { table: this.setup.sealedAs, id }, sealed);
  }
}

/** The secrets as `secrets:rotate` seals them again. */
export function webhookSecretColumn({ tables, sealedAs }: WebhookSetup, box: SecretBox): SealedColumn {
  const place: SealedColumn['place'] = ({ id }) => rowPlace({ table: sealedAs, id: Number(id) });
  return { table: tables.webhooks, key: ['id'], column: 'sealed_secret', box, place };
}
