import { isSignedBy, waitFor, WebhookReceiver } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty, type RegisteredApp } from './support/third-party.js';

let site: SiteApp;
let people: ThirdParty;
let receiver: WebhookReceiver;
beforeAll(async () => {
  site = await startSite({ API_RATE_LIMIT: '0' });
  people = new ThirdParty(site);
});
afterAll(() => site.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(() => receiver[Symbol.asyncDispose]());

/** Administrators alone may lead webhooks to this machine. */
async function developer(
  role: 'administrator' | 'member',
): Promise<{ app: RegisteredApp; reader: PageReader; path: string }> {
  const { id, name } = await people.user();
  await people.sql.query('UPDATE site_accounts SET role = $2 WHERE id = $1', [id, role]);
  const app = await people.register(id);
  const reader = new PageReader(site.url);
  await reader.logIn(name, PASSWORD);
  return { app, reader, path: `/developer/${app.clientId}/webhooks` };
}

const secretOf = (reader: PageReader): string => /<code>(whsec_[^<]+)<\/code>/.exec(reader.page)?.[1] ?? '';

describe('the pages of webhooks', () => {
  it('create one, show its secret once, test it, and show what came back', async () => {
    const { app, reader, path } = await developer('administrator');
    await reader.get(`/developer/${app.clientId}`);
    expect(reader.page).toContain(`href="${path}"`);
    await reader.get(path);
    expect(reader.text).toContain('This application has no webhook yet.');
    await reader.submit(path, { name: 'Chat <b>', url: receiver.url, event_types: ['grant.created', 'grant.ended'] });
    await reader.follow();
    const secret = secretOf(reader);
    const address = /^[^?]*/.exec(reader.last?.request.url.replace(site.url, '') ?? '')?.[0] ?? '';
    expect(reader.page).toContain('Chat &lt;b&gt;');
    expect(reader.text).toContain('grant.created, grant.ended');
    await reader.get(address);
    expect(secretOf(reader)).toBe('');

    receiver.answers.push(500);
    receiver.text = '<script>alert(1)</script>';
    await reader.submit(`${address}/test`);
    await reader.follow();
    expect(reader.text).toContain('the answer was 500');
    expect(reader.page).toContain('<code>&lt;script&gt;alert(1)&lt;/script&gt;</code>');
    expect(reader.text).toContain('"type": "webhook.test"');
    const [message] = receiver.received;
    if (!message) throw new Error('nothing came');
    expect(isSignedBy(secret, message)).toBe(true);

    await reader.get(address);
    expect(reader.text).toContain('given up');
    expect(reader.text).toContain('failing');
    await reader.submit(`${address}/replay`);
    expect(reader.location).toBe(`${address}?done=webhook-replays`);
    await waitFor(() => receiver.received.length === 2);
    await waitFor(async () => (await reader.get(address)).text.includes('>delivered<'));
    const [again] = /\/developer\/[^"]*\/replay"/.exec(reader.page.slice(reader.page.indexOf('/deliveries/'))) ?? [''];
    await reader.submit(again.slice(0, -1));
    await reader.follow();
    expect(reader.text).toContain('The message is sent again.');
    await waitFor(() => receiver.received.length === 3);

    await reader.get(address);
    await reader.submit(`${address}/secret`);
    await reader.follow();
    expect(secretOf(reader)).not.toBe(secret);
    await reader.submit(address, { name: 'Chat', url: receiver.url, enabled: '' });
    await reader.follow();
    expect(reader.text).toContain('The webhook was saved.');
    expect(reader.page).not.toContain(`action="${address}/test"`);
    await reader.submit(`${address}/delete`);
    await reader.follow();
    expect(reader.text).toContain('The webhook was deleted.');
  });

  it('say beside the field what is wrong, in the language of the reader', async () => {
    const { reader, path } = await developer('member');
    await reader.get(path);
    await reader.submit(path, { name: 'x', url: receiver.url });
    expect(reader.last?.status).toBe(400);
    expect(reader.page).toMatch(/id="url-wrong">must begin with https:\/\//);
    expect(reader.page).toContain(`value="${receiver.url}"`);
    await reader.submit('/preferences', { language: 'zh-CN', theme: 'system' });
    await reader.get(path);
    await reader.submit(path, { name: 'x', url: 'https://10.0.0.1/' });
    expect(reader.page).toMatch(/id="url-wrong">不能指向内网/);
    expect(reader.text).toContain('此应用还没有 Webhook。');
    expect(receiver.connections).toBe(0);
  });

  it('are there for the owner of the application alone', async () => {
    const { reader, path } = await developer('administrator');
    await reader.get(path);
    await reader.submit(path, { name: 'mine', url: receiver.url });
    const address = reader.location.replace('?done=webhook', '');
    await reader.follow();
    await reader.submit(`${address}/test`);
    const delivery = reader.location;
    const { reader: stranger, path: own } = await developer('administrator');
    await stranger.get(own);
    const inOwn = (page: string): string => page.replace(path, own);
    for (const page of [path, address, delivery, inOwn(address), inOwn(delivery)]) {
      expect((await stranger.get(page)).status, page).toBe(404);
    }
    await stranger.get(own);
    const token = /name="_token" value="([^"]+)"/.exec(stranger.page)?.[1] ?? '';
    for (const action of ['', '/delete', '/secret', '/test', '/replay']) {
      for (const page of [address, inOwn(address)]) {
        const answer = await stranger.post(`${page}${action}`, {
          _token: token,
          name: 'x',
          url: 'https://a.example.org/',
        });
        expect(answer.status, `${page}${action}`).toBe(404);
      }
    }
    for (const page of [delivery, inOwn(delivery)]) {
      expect((await stranger.post(`${page}/replay`, { _token: token })).status).toBe(404);
    }
    expect(receiver.received).toHaveLength(1);
    await reader.get(address);
    expect(reader.text).toContain('mine');
  });
});
