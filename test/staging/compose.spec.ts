import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TEXT = readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8');

interface Service {
  command?: string[];
  environment?: Record<string, string | number>;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  networks?: string[];
  image?: string;
  read_only?: boolean;
  mem_limit?: string;
  pids_limit?: number;
  stop_grace_period?: string;
  cap_drop?: string[];
  security_opt?: string[];
  logging?: { options?: Record<string, string> };
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
  profiles?: string[];
}
const FILE = parse(TEXT, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean }>;
};
const EXAMPLE_TEXT = readFileSync(path.join(ROOT, '.env.example'), 'utf8');
const EXAMPLE = new Map(
  [...EXAMPLE_TEXT.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
);
const SERVICES = Object.entries(FILE.services);
const OURS = SERVICES.filter(([, { command }]) => command?.[0] === 'node');
const onNetwork = (name: string): string[] =>
  SERVICES.filter(([, { networks }]) => networks?.includes(name)).map(([service]) => service);
const entryOf = ({ command }: Service): string => command?.[1] ?? '';

/** The part of the compose specification that this file uses. */
const STRINGS = { type: 'array', items: { type: 'string' } };
const DURATION = { type: 'string', pattern: '^\\d+s$' };
const SIZE = { type: 'string', pattern: '^\\d+[mg]$' };
const HEALTHCHECK = {
  type: 'object',
  additionalProperties: false,
  oneOf: [{ required: ['test', 'interval', 'timeout', 'retries'] }, { required: ['disable'] }],
  properties: {
    disable: { const: true },
    test: { ...STRINGS, minItems: 2 },
    interval: DURATION,
    timeout: DURATION,
    retries: { type: 'integer', minimum: 1 },
    start_period: DURATION,
  },
};
const SERVICE = {
  type: 'object',
  required: ['image', 'restart'],
  additionalProperties: false,
  properties: {
    image: { type: 'string', minLength: 1 },
    build: {
      type: 'object',
      required: ['context', 'args'],
      additionalProperties: false,
      properties: { context: { const: '.' }, args: { type: 'object', additionalProperties: { type: 'string' } } },
    },
    read_only: { const: true },
    tmpfs: { ...STRINGS, items: { type: 'string', pattern: '^/[a-z/]+:size=\\d+m,mode=1777$' } },
    mem_limit: SIZE,
    shm_size: SIZE,
    pids_limit: { type: 'integer', minimum: 1 },
    stop_grace_period: DURATION,
    networks: { ...STRINGS, minItems: 1 },
    profiles: STRINGS,
    logging: {
      type: 'object',
      required: ['driver', 'options'],
      additionalProperties: false,
      properties: { driver: { const: 'json-file' }, options: { type: 'object' } },
    },
    init: { type: 'boolean' },
    restart: { enum: ['unless-stopped', 'no'] },
    security_opt: STRINGS,
    cap_drop: STRINGS,
    command: { ...STRINGS, minItems: 1 },
    environment: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
    ports: {
      ...STRINGS,
      // A port, or a variable with a range of them.
      items: {
        type: 'string',
        pattern:
          '^\\$\\{PUBLISH_[A-Z]+:-\\$\\{PUBLISH_ADDRESS:-127\\.0\\.0\\.1\\}\\}:.+:(\\d+|\\$\\{[A-Z_]+:-\\d+-\\d+\\})(/udp)?$',
      },
    },
    volumes: { ...STRINGS, items: { type: 'string', pattern: '^[a-z-]+:/[a-z/-]+$' } },
    healthcheck: HEALTHCHECK,
    depends_on: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['condition'],
        properties: { condition: { enum: ['service_healthy', 'service_completed_successfully'] } },
      },
    },
  },
};

describe('docker-compose.yml', () => {
  it.each(SERVICES)('%s has a shape that compose accepts', (_name, service) => {
    const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(SERVICE);
    validate(service);
    expect(validate.errors).toBeNull();
  });

  it('has PostgreSQL, Redis, the three services, and a worker for each app that has one', () => {
    const entries = OURS.map(([, service]) => entryOf(service));
    const apps = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'];
    const workers = apps.filter((app) => existsSync(path.join(ROOT, `apps/${app}/src/worker.ts`)));
    expect(FILE.services).toHaveProperty('postgres');
    expect(FILE.services).toHaveProperty('redis');
    for (const app of apps) expect(entries).toContain(`apps/${app}/dist/main.js`);
    for (const app of apps) expect(entries).toContain(`apps/${app}/dist/migrate.js`);
    for (const app of workers) expect(entries).toContain(`apps/${app}/dist/worker.js`);
  });

  it.each(OURS)('%s runs a file from the build', (_name, service) => {
    const source = entryOf(service).replace('/dist/', '/src/').replace(/\.js$/, '.ts');
    expect(existsSync(path.join(ROOT, source))).toBe(true);
  });

  it.each(SERVICES)('%s has a health check, unless it is a job that ends', (_name, service) => {
    expect(service.restart === 'no' || service.healthcheck !== undefined).toBe(true);
  });

  it.each(SERVICES)('%s depends on services and uses volumes that exist', (_name, service) => {
    for (const name of Object.keys(service.depends_on ?? {})) expect(FILE.services).toHaveProperty(name);
    for (const volume of service.volumes ?? []) expect(Object.keys(FILE.volumes)).toContain(volume.split(':')[0]);
  });

  it.each(SERVICES)(
    '%s has limits, can write to nothing but its volumes, and keeps its log short',
    (_name, service) => {
      expect(service).toMatchObject({ read_only: true, pids_limit: expect.any(Number), mem_limit: expect.any(String) });
      expect(service.stop_grace_period).toMatch(/^[3-6]0s$|^40s$/);
      expect(service.logging?.options).toEqual({ 'max-size': expect.any(String), 'max-file': expect.any(String) });
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
    },
  );

  it.each(OURS)('%s has no capability', (_name, service) => expect(service.cap_drop).toEqual(['ALL']));

  it.each(OURS.filter(([name, { restart }]) => restart !== 'no' && name !== 'backup'))(
    '%s is asked whether it is ready',
    (_name, { healthcheck }) => {
      const [kind, program, file = '', url] = healthcheck?.test ?? [];
      expect([kind, program]).toEqual(['CMD', 'node']);
      expect(existsSync(path.join(ROOT, file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')))).toBe(true);
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/(readyz|healthz)$/);
    },
  );

  it('lets only our own processes reach PostgreSQL and Redis', () => {
    expect(FILE.networks['data']).toEqual({ internal: true });
    for (const name of ['postgres', 'redis']) {
      expect(FILE.services[name]?.networks).toEqual(['data']);
      expect(FILE.services[name]?.ports).toBeUndefined();
    }
    for (const [, { networks = [] }] of SERVICES) {
      for (const name of networks) expect(Object.keys(FILE.networks)).toContain(name);
    }
  });

  it('asks for credentials at the proxy, and keeps it away from private addresses and our own services', () => {
    const environment = FILE.services['proxy-gateway']?.environment;
    expect(environment?.['PROXY_KERNEL_USERS']).toBe('${PROXY_USER:-gatehouse}:${PROXY_PASSWORD:?set it in .env}');
    expect(environment?.['PROXY_KERNEL_PRIVATE_TARGETS']).toBe('refuse');
    const own = String(environment?.['PROXY_KERNEL_OWN_ENDPOINTS']).split(',');
    for (const name of ['proxy-gateway', 'resource-sharing', 'tunnel-gateway']) expect(own).toContain(`${name}:8080`);
  });

  it('serves metrics on an unpublished port, on a separate network', () => {
    const services = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'];
    const own = String(FILE.services['proxy-gateway']?.environment?.['PROXY_KERNEL_OWN_ENDPOINTS']);
    expect(FILE.networks['metrics']).toEqual({ internal: true });
    expect(FILE.networks['kernel-metrics']).toEqual({ internal: true });
    const others = ['proxy-gateway-worker', 'resource-sharing-worker', 'tunnel-edge', 'tunnel-gateway-worker'];
    expect(onNetwork('metrics').toSorted()).toEqual([...services, ...others].toSorted());
    expect(onNetwork('kernel-metrics')).toEqual(['proxy-kernel']);
    const variables = ['WORKER', 'WORKER', 'TUNNEL_EDGE', 'WORKER'].map((prefix) => `${prefix}_METRICS_PORT`);
    for (const [index, name] of others.entries()) {
      expect(FILE.services[name]?.environment).toMatchObject({
        [variables[index] ?? '']: 9090,
        METRICS_ADDRESS: '0.0.0.0',
      });
    }
    expect(FILE.services['proxy-kernel']?.environment).toMatchObject({ PROXY_KERNEL_METRICS_PORT: 9090 });
    for (const name of services) {
      const { environment = {}, ports = [] } = FILE.services[name] ?? {};
      const variable = `${name.toUpperCase().replace('-', '_')}_METRICS_PORT`;
      expect(environment).toMatchObject({ [variable]: 9090, METRICS_ADDRESS: '0.0.0.0' });
      expect(ports.filter((port) => port.endsWith(':9090'))).toEqual([]);
      expect(own).toContain(`${name}:9090`);
    }
  });

  it('runs the proxy in a container that the service can leave and rejoin, away from the database', () => {
    const [service, kernel] = [FILE.services['proxy-gateway'], FILE.services['proxy-kernel']];
    expect(entryOf(kernel ?? {})).toBe('apps/proxy-gateway/dist/kernel.js');
    expect(service?.environment).toMatchObject({ PROXY_KERNEL: 'separate', PROXY_KERNEL_CHANNEL: 'proxy-kernel:7891' });
    expect(service?.environment).toMatchObject({ PROXY_KERNEL_ADDRESS: '0.0.0.0', PROXY_KERNEL_PORT: 7890 });
    expect(kernel?.environment?.['PROXY_KERNEL_CHANNEL']).toBe('0.0.0.0:7891');
    expect(kernel?.networks).toEqual(['proxy', 'kernel-channel', 'kernel-metrics']);
    expect(FILE.networks['kernel-channel']).toEqual({ internal: true });
    expect(onNetwork('kernel-channel')).toEqual(['proxy-gateway', 'proxy-kernel', 'proxy-gateway-worker']);
    expect(onNetwork('proxy')).toEqual(['proxy-kernel']);
    expect(kernel?.depends_on).toBeUndefined();
    // /readyz is 503 until the service has come, and the service waits for this container.
    expect(kernel?.healthcheck?.test?.at(-1)).toBe('http://127.0.0.1:7892/healthz');
    expect([service, kernel].map((one) => one?.ports?.length)).toEqual([1, 1]);
  });

  it('configures for the service and its worker how they fetch through the proxy', () => {
    for (const name of ['proxy-gateway', 'proxy-gateway-worker']) {
      expect(FILE.services[name]?.environment).toMatchObject({
        PROXY_KERNEL_HOST: 'proxy-kernel',
        PROXY_KERNEL_PORT: 7890,
        PROXY_KERNEL_USERS: '${PROXY_USER:-gatehouse}:${PROXY_PASSWORD:?set it in .env}',
      });
    }
  });

  it('lets only the services ask who comes through the proxy', () => {
    const services = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'];
    expect(FILE.networks['proxy-clients']).toEqual({ internal: true });
    expect(onNetwork('proxy-clients')).toEqual(services);
    const [gateway, ...others] = services.map((name) => FILE.services[name]?.environment ?? {});
    expect(gateway?.['PROXY_CLIENTS_CHANNEL']).toBe('0.0.0.0:7893');
    for (const environment of others) expect(environment['PROXY_CLIENTS_CHANNEL']).toBe('proxy-gateway:7893');
    expect(String(gateway?.['PROXY_KERNEL_OWN_ENDPOINTS']).split(',')).toContain('proxy-gateway:7893');
  });

  it('gives the proxy no secret but the key that it needs', () => {
    const environment = FILE.services['proxy-kernel']?.environment ?? {};
    expect(Object.keys(environment).filter((name) => /PASSWORD|SECRET|_URL$|USERS/.test(name))).toEqual([
      'GATEHOUSE_SECRET_KEY',
      'GATEHOUSE_SECRET_KEYS',
    ]);
  });

  it.each(OURS.filter(([, { restart }]) => restart !== 'no'))(
    '%s takes several secret keys, or none',
    (_name, service) =>
      expect(service.environment).toMatchObject({
        GATEHOUSE_SECRET_KEY: '${GATEHOUSE_SECRET_KEY:?set it in .env}',
        GATEHOUSE_SECRET_KEYS: '${GATEHOUSE_SECRET_KEYS:-}',
      }),
  );

  it('runs the tunnels in a container that the service can leave and rejoin', () => {
    const [service, edge] = [FILE.services['tunnel-gateway'], FILE.services['tunnel-edge']];
    expect(service?.environment).toMatchObject({ TUNNEL_EDGE: 'separate', TUNNEL_EDGE_CHANNEL: 'tunnel-edge:8025' });
    expect(Object.keys(edge?.depends_on ?? {})).toEqual(['tunnel-gateway-migrate']);
    expect(FILE.networks['edge-channel']).toEqual({ internal: true });
    expect(onNetwork('edge-channel')).toEqual(['tunnel-gateway', 'tunnel-edge']);
    expect(service?.ports).toHaveLength(1);
  });

  it('writes backups on request, next to PostgreSQL and nothing else, into a volume', () => {
    const backup = FILE.services['backup'];
    expect(SERVICES.filter(([, { profiles }]) => profiles).map(([name]) => name)).toEqual(['backup']);
    expect(backup?.command).toEqual(['node', 'tools/dist/cli.js', 'backup', '--scheduled']);
    expect(backup?.networks).toEqual(['data']);
    expect(backup?.ports).toBeUndefined();
    expect(backup?.healthcheck?.test).toEqual(['CMD', 'node', 'tools/dist/cli.js', 'backup', '--is-recent']);
    const folder = backup?.environment?.['BACKUP_DIR'];
    expect(backup?.volumes).toContain(`backups:${folder}`);
    // A new volume gets the owner that its folder has in the image.
    expect(readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')).toMatch(
      new RegExp(`^RUN install -d -o node -g node -m 0700 .*${folder}( |$)`, 'm'),
    );
  });

  it('publishes each kind of port on a separate address', () => {
    const published = SERVICES.flatMap(([, { ports = [] }]) => ports).map((port) => {
      const [, role, target] = /^\$\{PUBLISH_([A-Z]+):.*:([^:]*|\$\{.*\})$/.exec(port) ?? [];
      return `${role} ${target}`;
    });
    const range = '20000-20099}';
    expect(published.filter((text) => !text.includes(range)).sort()).toEqual([
      'AGENTS 8024',
      'AGENTS 8024/udp',
      'CONSOLES 8080',
      'CONSOLES 8080',
      'CONSOLES 8080',
      'HOSTS 8443',
      'HOSTS 8880',
      'PROXY 7890',
    ]);
    expect(published.filter((text) => text.startsWith('TUNNELS '))).toHaveLength(2);
  });

  it('has no default for a secret, and asks for all but the keys that replace the secret key', () => {
    const secrets = [...TEXT.matchAll(/\$\{([A-Z_]*(?:PASSWORD|SECRET|KEY|TOKEN)[A-Z_]*)(:[-?][^}]*)?\}/g)];
    expect(secrets.length).toBeGreaterThan(4);
    const optional = secrets.filter(([, , rest]) => rest?.startsWith(':?') !== true).map(([whole]) => whole);
    expect(optional).toEqual(['${GATEHOUSE_SECRET_KEYS:-}']);
  });

  it('has a value for every variable in a fresh clone, or requires it and .env.example says so', () => {
    const used = [...TEXT.matchAll(/\$\{([A-Z_]+)(:[-?])?/g)].map(([, name = '', mark]) => ({ name, mark }));
    expect(used.filter(({ mark }) => mark === undefined)).toEqual([]);
    const asked = new Set(used.filter(({ mark }) => mark === ':?').map(({ name }) => name));
    expect([...asked].sort()).toEqual([
      'GATEHOUSE_ADMIN_PASSWORD',
      'GATEHOUSE_SECRET_KEY',
      'POSTGRES_PASSWORD',
      'PROXY_PASSWORD',
      'REDIS_PASSWORD',
    ]);
    for (const name of asked) expect(EXAMPLE.get(name)).toBe('');
  });

  it('is explained by .env.example, variable by variable and with the same defaults', () => {
    const names = new Set([...TEXT.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name));
    names.delete('PUBLISH_ADDRESS'); // an old name, which is explained and not set
    expect([...EXAMPLE.keys()].sort()).toEqual([...names].sort());
    for (const [, name = '', value] of TEXT.matchAll(/\$\{([A-Z_]+):-([^${}]*)\}/g)) {
      if (name !== 'PUBLISH_ADDRESS') expect(`${name}=${EXAMPLE.get(name)}`).toBe(`${name}=${value}`);
    }
    expect(EXAMPLE_TEXT).toContain('# PUBLISH_ADDRESS=127.0.0.1');
    for (const name of names) if (name.startsWith('PUBLISH_')) expect(EXAMPLE.get(name)).toBe('127.0.0.1');
  });

  it('is accepted by docker compose, if that is installed', (ctx) => {
    const compose = spawnSync('docker', ['compose', 'version'], { encoding: 'utf8' });
    if (compose.status !== 0) ctx.skip('docker has no compose command here');
    const secrets = [
      'POSTGRES_PASSWORD',
      'REDIS_PASSWORD',
      'GATEHOUSE_ADMIN_PASSWORD',
      'GATEHOUSE_SECRET_KEY',
      'PROXY_PASSWORD',
    ];
    const config = (env: Record<string, string>): { status: number | null; stderr: string } =>
      spawnSync('docker', ['compose', '--env-file', '/dev/null', 'config', '--quiet'], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      });
    const filled = config(Object.fromEntries(secrets.map((name) => [name, 'x'])));
    expect([filled.status, filled.stderr]).toEqual([0, '']);
    const empty = config({});
    expect(empty.status).not.toBe(0);
    expect(empty.stderr).toContain('set it in .env');
  });
});
