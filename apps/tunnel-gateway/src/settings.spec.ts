import { SettingsError } from '@gatehouse/platform';
import { describe, expect, it } from 'vitest';
import { readSettings } from './settings.js';

const DATABASE = { DATABASE_URL: 'postgres://localhost/x' };
const random = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64');

describe('settings', () => {
  it.each([
    ['GATEHOUSE_ADMIN_PASSWORD', 'ChangeMe'],
    ['GATEHOUSE_ADMIN_PASSWORD', 'password'],
    ['GATEHOUSE_ADMIN_PASSWORD', 'admin123'],
    ['GATEHOUSE_ADMIN_PASSWORD', 'short'],
    ['GATEHOUSE_SECRET_KEY', Buffer.alloc(32).toString('base64')],
    ['GATEHOUSE_SECRET_KEY', Buffer.from('1234567812345678'.repeat(2)).toString('base64')],
    ['GATEHOUSE_SECRET_KEY', 'secret'],
    ['ACME_CHALLENGES', 'http-01,dns-01'],
    ['ACME_DNS_PROVIDER', 'rfc2137'],
  ])('refuse %s=%s', (variable, value) => {
    expect(() => readSettings({ ...DATABASE, [variable]: value })).toThrow(SettingsError);
    expect(() => readSettings({ ...DATABASE, [variable]: value })).toThrow(variable);
  });

  it('never print the value that they refuse', () => {
    expect(() => readSettings({ ...DATABASE, GATEHOUSE_ADMIN_PASSWORD: 'admin123' })).not.toThrow('admin123');
  });

  it('treat an empty secret as absent: a password is generated, and an empty one is never accepted', () => {
    const settings = readSettings({ ...DATABASE, GATEHOUSE_ADMIN_PASSWORD: '', GATEHOUSE_SECRET_KEY: '' });
    expect(settings.adminPassword).toBeUndefined();
    expect(settings.secretKey).toBeUndefined();
    expect(settings.firstAdministrator).toBe('password');
  });

  it('bind to this machine only by default, and accept own secrets', () => {
    const settings = readSettings({
      ...DATABASE,
      GATEHOUSE_ADMIN_PASSWORD: 'correct horse battery',
      GATEHOUSE_SECRET_KEY: random,
    });
    expect(settings.bindAddress).toBe('127.0.0.1');
    expect(settings.trustedProxies).toEqual([]);
    expect(settings.secretKey).toBe(random);
  });
});
