import { OutboundCallError, OutboundCalls, type OutboundAnswer } from '@gatehouse/net';
import { traceOutgoing } from '@gatehouse/platform';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { signatureFields } from './webhook-signature.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WEBHOOK_SETUP, type WebhookSetup } from './webhook-setup.js';

export interface WebhookMessage {
  deliveryId: number;
  url: string;
  webhookId: number;
  sealedSecret: string;
  body: string;
  /** May reach the service's own network, and do without TLS. */
  allowPrivate: boolean;
}

/** The result of one attempt. */
export interface SendOutcome {
  delivered: boolean;
  /** The receiver wants no further messages. */
  gone: boolean;
  status: number | null;
  error: string | null;
  /** The beginning of the answer, as text. */
  excerpt: string | null;
  durationMs: number;
}

const TIMEOUT_MS = 10_000;
const MAX_EXCERPT = 1_000;

/** Sends a message once. Redirects are not followed; addresses are checked when connecting. */
@Injectable()
export class WebhookSender implements OnApplicationShutdown {
  private readonly calls = new OutboundCalls({ timeoutMs: TIMEOUT_MS });

  constructor(
    private readonly secrets: WebhookSecrets,
    @Inject(WEBHOOK_SETUP) private readonly setup: WebhookSetup,
  ) {}

  onApplicationShutdown(): void {
    this.calls.close();
  }

  async send({ deliveryId, webhookId, url, sealedSecret, body, allowPrivate }: WebhookMessage): Promise<SendOutcome> {
    const now = Math.floor(Date.now() / 1_000);
    const signature = signatureFields(this.secrets.open(webhookId, sealedSecret), `whd_${deliveryId}`, now, body);
    const headers = { ...signature, 'content-type': 'application/json', 'user-agent': this.setup.userAgent };
    const began = performance.now();
    const durationMs = (): number => Math.round(performance.now() - began);
    try {
      const answer = await traceOutgoing('POST', url, async (answered) => {
        const received = await this.calls.send({ url, method: 'POST', headers, body, allowPrivate });
        answered(received.status);
        return received;
      });
      return { ...outcomeOf(answer), durationMs: durationMs() };
    } catch (error) {
      if (!(error instanceof OutboundCallError)) throw error;
      // Details about the service's network are not shown to the owner.
      return {
        delivered: false,
        gone: false,
        status: null,
        error: error.message,
        excerpt: null,
        durationMs: durationMs(),
      };
    }
  }
}

function outcomeOf({ status, body }: OutboundAnswer): Omit<SendOutcome, 'durationMs'> {
  const delivered = status >= 200 && status < 300;
  const error = delivered ? null : `the answer was ${status}`;
  return { delivered, gone: status === 410, status, error, excerpt: excerptOf(body) };
}

/** Null: empty, or too long to be read. Receivers send what they like: PostgreSQL accepts no NUL, and pages no controls. */
function excerptOf(body: Buffer | null): string | null {
  if (body === null || body.length === 0) return null;
  // Four bytes at most for a character.
  const text = body
    .subarray(0, MAX_EXCERPT * 4)
    .toString('utf8')
    .slice(0, MAX_EXCERPT)
    .toWellFormed();
  return text.replaceAll(/[^\P{C}\n\t]/gu, '\uFFFD');
}
