import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createWebhookSecret, signatureFields } from './webhook-signature.js';

describe('signatureFields', () => {
  it('signs the published example as Standard Webhooks does', () => {
    const fields = signatureFields(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1_614_265_330,
      '{"test": 2432232314}',
    );
    expect(fields).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it("makes what the library of the standard's makers accepts, with new secrets and any text", () => {
    const secret = createWebhookSecret();
    const body = JSON.stringify({ name: '片名 🎬', empty: '' });
    const fields = signatureFields(secret, 'whd_1', Math.floor(Date.now() / 1_000), body);
    expect(new Webhook(secret).verify(body, fields)).toEqual(JSON.parse(body));
    expect(() => new Webhook(createWebhookSecret()).verify(body, fields)).toThrow(WebhookVerificationError);
    expect(() => new Webhook(secret).verify(`${body} `, fields)).toThrow(WebhookVerificationError);
  });
});
