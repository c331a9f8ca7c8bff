import { HealthRegistry } from '@gatehouse/platform';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type Gateway } from './support/gateway.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A client of the stream with what it has received. */
class Follower implements AsyncDisposable {
  readonly areas: string[][] = [];
  ended = false;
  private readonly stop: AbortController;

  private constructor(response: Response, stop: AbortController) {
    this.stop = stop;
    void this.read(response);
  }

  static async open(at: Gateway, headers: Record<string, string>): Promise<Follower> {
    const stop = new AbortController();
    const response = await fetch(`${at.app.url}/api/v1/changes`, { headers, signal: stop.signal });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const follower = new Follower(response, stop);
    await follower.until('*');
    return follower;
  }

  until(area: string): Promise<unknown> {
    return waitFor(() => this.areas.flat().includes(area) || null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    await waitFor(() => this.ended || null);
  }

  private async read(response: Response): Promise<void> {
    let text = '';
    try {
      for await (const part of response.body ?? []) {
        text += Buffer.from(part).toString();
        const messages = text.split('\n\n');
        text = messages.pop() ?? '';
        for (const [, data] of messages.join('\n').matchAll(/^data: (.*)$/gm)) {
          this.areas.push((JSON.parse(data ?? '') as { areas: string[] }).areas);
        }
      }
    } catch {
      // Cut off, by either side.
    }
    this.ended = true;
  }
}

const login = (at = gateway): Record<string, string> => ({ authorization: at.authorization() });

describe('GET /changes', () => {
  it('names the lists that a write changed, each once', async () => {
    await using follower = await Follower.open(gateway, login());
    await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'a.example', target: 'DIRECT' });
    await follower.until('rules');
    await gateway.call('POST', '/proxies', { raw_config: 'http://u:p@127.0.0.1:9' });
    await follower.until('nodes');
    await gateway.call('POST', '/publications', { name: 'Phones' });
    await follower.until('publications');
    await gateway.call('PUT', '/settings', { 'kernel.log_level': 'warning' });
    await follower.until('settings');
    for (const areas of follower.areas) expect(new Set(areas).size).toBe(areas.length);
  });

  it('does not announce failed writes, or writes that no list shows', async () => {
    await using follower = await Follower.open(gateway, login());
    expect((await gateway.call('POST', '/rules', { type: 'NOTHING' })).status).toBe(400);
    await gateway.call('GET', '/rules');
    // Announcements arrive in the order of the commits, so this one would have come after theirs.
    await gateway.call('POST', '/api-keys', { name: 'later', scopes: ['read'] });
    await follower.until('api-keys');
    expect(follower.areas.flat().filter((area) => area !== 'api-keys')).toEqual(['*']);
  });

  it('ends when its key is revoked', async () => {
    const { body } = await gateway.call('POST', '/api-keys', { name: 'follower', scopes: ['read'] });
    await using follower = await Follower.open(gateway, { 'x-api-key': body.key });
    await gateway.call('DELETE', `/api-keys/${body.id}`);
    await waitFor(() => follower.ended || null);
  });

  it('limits the streams of one key, and leaves the others theirs', async () => {
    const { body } = await gateway.call('POST', '/api-keys', { name: 'greedy', scopes: ['read'] });
    const headers = { 'x-api-key': body.key };
    const greedy = await Promise.all(Array.from({ length: 32 }, () => Follower.open(gateway, headers)));
    const refused = await fetch(`${gateway.app.url}/api/v1/changes`, { headers });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    await refused.body?.cancel();
    await using other = await Follower.open(gateway, login());
    await greedy[0]![Symbol.asyncDispose]();
    await waitFor(async () => {
      const again = await fetch(`${gateway.app.url}/api/v1/changes`, { headers });
      await again.body?.cancel();
      return again.status === 200 || null;
    });
    await Promise.all(greedy.map((follower) => follower[Symbol.asyncDispose]()));
    expect(other.ended).toBe(false);
  });

  it('ends when the service stops', async () => {
    await using other = await startGateway();
    await using follower = await Follower.open(other, login(other));
    other.app.app.get(HealthRegistry).startDraining();
    await waitFor(() => follower.ended || null);
  });
});
