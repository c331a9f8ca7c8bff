import { describe, expect, it } from 'vitest';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from './platform-settings.js';
import { serviceEnvironment } from './service-environment.js';

describe('readPlatformSettings', () => {
  it('has a default for everything', () => {
    const settings = readPlatformSettings({});
    expect(settings).toMatchObject({ home: OWN, bindAddress: '127.0.0.1', databaseUrl: undefined, postgresPort: 0 });
    expect(settings.ports).toEqual({
      PROXY_GATEWAY_PORT: 8080,
      RESOURCE_SHARING_PORT: 8081,
      TUNNEL_GATEWAY_PORT: 8082,
      TUNNEL_AGENT_PORT: 8024,
      TUNNEL_HTTP_PORT: 8880,
      TUNNEL_HTTPS_PORT: 8443,
      PROXY_KERNEL_PORT: 7890,
    });
  });

  it('lists everything that is wrong at once', () => {
    const wrong = {
      PROXY_GATEWAY_PORT: '80x',
      TUNNEL_GATEWAY_PORT: '70000',
      DATABASE_URL: 'mysql://x',
      PROXY_KERNEL_PORT: '8081',
    };
    const failure = (() => {
      try {
        return readPlatformSettings(wrong);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(PlainFailure);
    expect((failure as PlainFailure).advice).toEqual([
      'PROXY_GATEWAY_PORT=80x is not a port (0 to 65535).',
      'TUNNEL_GATEWAY_PORT=70000 is not a port (0 to 65535).',
      'RESOURCE_SHARING_PORT and PROXY_KERNEL_PORT both say 8081.',
      'DATABASE_URL is not a postgres:// URL.',
    ]);
  });
});

describe('ports for metrics alone', () => {
  const env = { PROXY_GATEWAY_METRICS_PORT: '9101', TUNNEL_GATEWAY_METRICS_PORT: '9102', METRICS_ADDRESS: '::1' };

  it('are checked like all others, and kept from clients of the proxy', () => {
    const settings = readPlatformSettings(env);
    expect(settings).toMatchObject({ metricsAddress: '::1', ports: { PROXY_GATEWAY_METRICS_PORT: 9101 } });
    expect(settings.ports).not.toHaveProperty('RESOURCE_SHARING_METRICS_PORT');
    const own = serviceEnvironment(env, settings, 'postgres://a/b')['PROXY_KERNEL_OWN_ENDPOINTS']?.split(',');
    expect(own).toEqual(expect.arrayContaining([':9101', ':9102']));
    expect(() => readPlatformSettings({ ...env, PROXY_GATEWAY_METRICS_PORT: '8082' })).toThrow(PlainFailure);
  });
});

describe('serviceEnvironment', () => {
  it('says where the services ask who comes through the proxy, unless a person did', () => {
    const settings = readPlatformSettings({ GATEHOUSE_HOME: '/srv/gatehouse' });
    const channel = (env: NodeJS.ProcessEnv): string | undefined =>
      serviceEnvironment(env, settings, 'postgres://a/b')['PROXY_CLIENTS_CHANNEL'];
    expect(channel({})).toBe('/srv/gatehouse/proxy-gateway/clients.sock');
    expect(channel({ PROXY_CLIENTS_CHANNEL: '127.0.0.1:7893' })).toBe('127.0.0.1:7893');
  });

  const settings = readPlatformSettings({ GATEHOUSE_HOME: '/somewhere', PROXY_GATEWAY_PORT: '9000' });

  it('decides home, database and ports, and keeps what is meant for the launcher to itself', () => {
    const env = { GATEHOUSE_NODE: '/x', GATEHOUSE_POSTGRES_PORT: '5', npm_config_x: 'y', LOG_LEVEL: 'debug' };
    const own = serviceEnvironment(env, settings, 'postgres://a/b');
    expect(own).toMatchObject({
      GATEHOUSE_HOME: '/somewhere',
      DATABASE_URL: 'postgres://a/b',
      PROXY_GATEWAY_PORT: '9000',
      RESOURCE_SHARING_PORT: '8081',
      AUTO_MIGRATE: 'true',
      WORKERS: 'inline',
      LOG_LEVEL: 'debug',
    });
    for (const name of Object.keys(env).filter((key) => key !== 'LOG_LEVEL')) expect(own).not.toHaveProperty(name);
  });
});
