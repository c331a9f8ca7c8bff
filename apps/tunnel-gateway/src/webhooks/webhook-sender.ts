import { traceOutgoing } from '@gatehouse/platform';
import { OutboundCalls, TunnelError } from '@gatehouse/tunnel-kernel';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SERVICE_VERSION } from '../service-version.js';
import { signatureFields } from './webhook-signature.js';
import { WebhookSecrets } from './webhook-secrets.js';

export interface WebhookMessage {
  deliveryId: number;
  url: string;
  webhookId: number;
  sealedSecret: string;
  body: string;
  /** May reach the gateway's own network, and do without TLS. */
  allowPrivate: boolean;
}

/** The result of one attempt. */
export interface SendOutcome {
  delivered: boolean;
  /** The receiver wants no further messages. */
  gone: boolean;
  status: number | null;
  error: string | null;
}

const TIMEOUT_MS = 10_000;

/** Sends a message once. Redirects are not followed; addresses are checked when connecting. */
@Injectable()
export class WebhookSender implements OnApplicationShutdown {
  private readonly calls = new OutboundCalls({ timeoutMs: TIMEOUT_MS });

  constructor(private readonly secrets: WebhookSecrets) {}

  onApplicationShutdown(): void {
    this.calls.close();
  }

  async send({ deliveryId, webhookId, url, sealedSecret, body, allowPrivate }: WebhookMessage): Promise<SendOutcome> {
    const now = Math.floor(Date.now() / 1_000);
    const signature = signatureFields(this.secrets.open(webhookId, sealedSecret), `whd_${deliveryId}`, now, body);
    const headers = {
      ...signature,
      'content-type': 'application/json',
      'user-agent': `gatehouse-tunnel-gateway/${SERVICE_VERSION}`,
    };
    try {
      const { status } = await traceOutgoing('POST', url, async (answered) => {
        const answer = await this.calls.send({ url, method: 'POST', headers, body, allowPrivate });
        answered(answer.status);
        return answer;
      });
      const delivered = status >= 200 && status < 300;
      return { delivered, gone: status === 410, status, error: delivered ? null : `the answer was ${status}` };
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      // Details about the gateway's network are not shown to the owner.
      return { delivered: false, gone: false, status: null, error: error.message };
    }
  }
}
