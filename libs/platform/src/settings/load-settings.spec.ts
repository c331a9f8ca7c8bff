import { bilingual } from '@gatehouse/i18n';
import { describe, expect, it } from 'vitest';
import { loadSettings, type Environment } from './load-settings.js';
import { isAddressRange, ServiceSettings } from './service-settings.js';
import { SettingsError } from './settings-error.js';

const DATABASE_URL = 'postgres://gate:pw@127.0.0.1:5432/gatehouse';

const NOTHING = bilingual('', '');

function problemsOf(env: Environment): SettingsError['problems'] {
  try {
    loadSettings(ServiceSettings, env);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadSettings', () => {
  it('applies defaults and freezes the result', () => {
    const settings = loadSettings(ServiceSettings, { DATABASE_URL, REDIS_URL: '', PATH: '/bin' });
    expect(settings).toMatchObject({
      logLevel: 'info',
      bindAddress: '127.0.0.1',
      autoMigrate: false,
      trustedProxies: [],
    });
    expect(settings.redisUrl).toBeUndefined();
    expect(() => Object.assign(settings, { logLevel: 'debug' })).toThrow(TypeError);
  });

  it('reads every kind of setting', () => {
    const settings = loadSettings(ServiceSettings, {
      DATABASE_URL,
      AUTO_MIGRATE: 'True',
      SHUTDOWN_TIMEOUT_MS: ' 250 ',
      TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    });
    expect(settings).toMatchObject({
      autoMigrate: true,
      shutdownTimeoutMs: 250,
      trustedProxies: ['10.0.0.0/8', '::1'],
    });
  });

  it('names every invalid value at once, with what would be valid', () => {
    const problems = problemsOf({
      LOG_LEVEL: 'loud',
      AUTO_MIGRATE: 'perhaps',
      SHUTDOWN_TIMEOUT_MS: '1e3',
      TRUSTED_PROXIES: '10.0.0.0/33',
      GATEHOUSE_HOEM: '/srv',
      GATEHOUSE_ADMIN_PASSWORD: 'short',
    });
    expect(problems.map(({ variable }) => variable).sort()).toEqual([
      'AUTO_MIGRATE',
      'DATABASE_URL',
      'GATEHOUSE_ADMIN_PASSWORD',
      'GATEHOUSE_HOEM',
      'LOG_LEVEL',
      'SHUTDOWN_TIMEOUT_MS',
      'TRUSTED_PROXIES',
    ]);
    const of = (name: string): string => {
      const { problem, expected } = problems.find(({ variable }) => variable === name) ?? {
        problem: NOTHING,
        expected: NOTHING,
      };
      return `${problem.en}; ${expected.en}`;
    };
    expect(of('LOG_LEVEL')).toBe('"loud" is not acceptable; one of debug, info, warn, error, silent');
    expect(of('DATABASE_URL')).toContain('is not set');
    expect(of('SHUTDOWN_TIMEOUT_MS')).toContain('"1e3" is not a whole number');
    expect(of('GATEHOUSE_HOEM')).toContain('perhaps GATEHOUSE_HOME');
  });

  it('says the same in Chinese', () => {
    const env = { LOG_LEVEL: 'loud', SHUTDOWN_TIMEOUT_MS: '1e3', GATEHOUSE_SECRET_KEY: 'x', GATEHOUSE_HOEM: '/srv' };
    const text = new SettingsError(problemsOf(env)).text['zh-CN'];
    expect(text.split('\n').toSorted()).toEqual([
      'DATABASE_URL: 未设置；要求：postgres://用户:密码@主机:端口/数据库',
      'GATEHOUSE_HOEM: 不是此服务的变量；要求：可能应写作 GATEHOUSE_HOME',
      'GATEHOUSE_SECRET_KEYS: 给定的值无效；要求：base64 编码的 32 字节（openssl rand -base64 32）；多个密钥以逗号分隔，最新的在前',
      'LOG_LEVEL: "loud" 无效；要求：debug、info、warn、error、silent 之一',
      'SHUTDOWN_TIMEOUT_MS: "1e3" 不是整数；要求：0 到 3600000 毫秒',
    ]);
  });

  it('never prints a secret', () => {
    const problems = problemsOf({
      DATABASE_URL: 'mysql://u:hunter2@h/db',
      GATEHOUSE_SECRET_KEY: 'hunter2',
      GATEHOUSE_ADMIN_PASSWORD: 'hunter2',
    });
    expect(problems).toHaveLength(3);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  it('ignores variables of other services', () => {
    expect(problemsOf({ DATABASE_URL, PROXY_GATEWAY_PORT: '8080', TUNNEL_GATEWAY_PORT: 'x' })).toEqual([]);
  });

  it.each([
    ['127.0.0.1', true],
    ['10.0.0.0/8', true],
    ['::1', true],
    ['fe80::/10', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/8/8', false],
    ['localhost', false],
    [8, false],
  ])('treats %s as an address range: %s', (text, is) => {
    expect(isAddressRange(text)).toBe(is);
  });
});
