import { createHmac, randomUUID } from 'node:crypto';
import type { WitnessLine } from './witness-line.js';

const TIMEOUT_MS = 5_000;

export interface WitnessHookOptions {
  readonly url: string;
  /** Signs the messages. */
  readonly secret: string;
  readonly service: string;
}

/** Sends the head of the log to another machine, signed as in Standard Webhooks 1.0. */
export class WitnessHook {
  private readonly options: WitnessHookOptions;

  constructor(options: WitnessHookOptions) {
    this.options = options;
  }

  /** @throws an error for any answer other than 2xx, and if there is none within five seconds. */
  async send({ at, id, hash }: WitnessLine): Promise<void> {
    const { url, secret, service } = this.options;
    const body = JSON.stringify({ type: 'audit.head', service, at, last_id: id, last_hash: hash });
    const message = randomUUID();
    const timestamp = String(Math.floor(Date.parse(at) / 1_000));
    const signature = createHmac('sha256', secret).update(`${message}.${timestamp}.${body}`).digest('base64');
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'webhook-id': message,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the witness answered ${response.status}`);
  }
}
