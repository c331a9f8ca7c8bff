import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

export function createWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** Fields of Standard Webhooks 1.0 that identify and sign a message. `seconds`: since the epoch. */
export function signatureFields(secret: string, id: string, seconds: number, body: string): Record<string, string> {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}
