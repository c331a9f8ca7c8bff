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
  healthcheck?: unknown;
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
}
const FILE = parse(TEXT, { merge: true }) as { services: Record<string, Service>; volumes: Record<string, unknown> };
const SERVICES = Object.entries(FILE.services);
const OURS = SERVICES.filter(([, { command }]) => command?.[0] === 'node');
const entryOf = ({ command }: Service): string => command?.[1] ?? '';

/** The part of the compose specification that this file uses. */
const STRINGS = { type: 'array', items: { type: 'string' } };
const HEALTHCHECK = {
  type: 'object',
  required: ['test', 'interval', 'timeout', 'retries'],
  additionalProperties: false,
  properties: {
    test: { ...STRINGS, minItems: 2 },
    interval: { type: 'string', pattern: '^\\d+s$' },
    timeout: { type: 'string', pattern: '^\\d+s$' },
    retries: { type: 'integer', minimum: 1 },
    start_period: { type: 'string', pattern: '^\\d+s$' },
  },
};
const SERVICE = {
  type: 'object',
  required: ['image', 'restart'],
  additionalProperties: false,
  properties: {
    image: { type: 'string', minLength: 1 },
    build: { const: '.' },
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
        pattern: '^\\$\\{PUBLISH_ADDRESS:-127\\.0\\.0\\.1\\}:.+:(\\d+|\\$\\{[A-Z_]+:-\\d+-\\d+\\})(/udp)?$',
      },
    },
    volumes: { ...STRINGS, items: { type: 'string', pattern: '^[a-z-]+:/[a-z/]+$' } },
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
  it.each(SERVICES)('%s has the shape that compose knows', (_name, service) => {
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

  it.each(OURS)('%s runs a file that the build makes', (_name, service) => {
    const source = entryOf(service).replace('/dist/', '/src/').replace(/\.js$/, '.ts');
    expect(existsSync(path.join(ROOT, source))).toBe(true);
  });

  it.each(SERVICES)('%s is checked for health, unless it ends by itself', (_name, service) => {
    expect(service.restart === 'no' || service.healthcheck !== undefined).toBe(true);
  });

  it.each(SERVICES)('%s depends on services and uses volumes that exist', (_name, service) => {
    for (const name of Object.keys(service.depends_on ?? {})) expect(FILE.services).toHaveProperty(name);
    for (const volume of service.volumes ?? []) expect(Object.keys(FILE.volumes)).toContain(volume.split(':')[0]);
  });

  it('has no default for a secret', () => {
    const secrets = [...TEXT.matchAll(/\$\{([A-Z_]*(?:PASSWORD|SECRET|KEY|TOKEN)[A-Z_]*)(:[-?])?/g)];
    expect(secrets.length).toBeGreaterThan(4);
    expect(secrets.filter(([, , mark]) => mark !== ':?')).toEqual([]);
  });

  it('names every variable that it needs in .env.example, secrets empty', () => {
    const example = readFileSync(path.join(ROOT, '.env.example'), 'utf8');
    const values = new Map([...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
    const needed = [...TEXT.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name);
    for (const name of needed) expect(values.get(name)).toBe('');
  });
});
