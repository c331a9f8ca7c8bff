import { describe, expect, it } from 'vitest';
import { readSettings } from './settings.js';

const DATABASE_URL = 'postgres://user@127.0.0.1/database';

describe('the settings of resource-sharing', () => {
  it('use the service’s own address as the public one unless another is set', () => {
    expect(readSettings({ DATABASE_URL }).publicUrl).toBe('http://127.0.0.1:8081');
    const moved = readSettings({ DATABASE_URL, RESOURCE_SHARING_PORT: '9000' });
    expect([moved.publicUrl, moved.secureCookies]).toEqual(['http://127.0.0.1:9000', false]);
    const given = readSettings({ DATABASE_URL, RESOURCE_SHARING_PUBLIC_URL: 'https://share.example.org' });
    expect([given.publicUrl, given.secureCookies]).toEqual(['https://share.example.org', true]);
    expect(() => readSettings({ DATABASE_URL, RESOURCE_SHARING_PUBLIC_URL: 'share.example.org' })).toThrow(
      'PUBLIC_URL',
    );
  });

  it.each([
    ['http://share.example.org', true],
    ['http://192.168.1.2:8081', true],
    ['http://localhost.example.org:8081', true],
    ['https://share.example.org', false],
    ['http://localhost:8081', false],
    ['http://share.localhost', false],
    ['http://127.0.0.1:8081', false],
    ['http://[::1]:8081', false],
  ])('know whether cookies of %s reach other ports: %s', (url, shared) => {
    expect(readSettings({ DATABASE_URL, RESOURCE_SHARING_PUBLIC_URL: url }).cookiesAreShared).toBe(shared);
  });
});
