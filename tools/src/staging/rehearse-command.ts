import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '@gatehouse/net';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@gatehouse/persistence/server';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { findInPath } from '../peers/programs.js';
import { canConnect } from '../ports.js';
import { runTour } from '../tour/tour-command.js';
import { readComposeFile } from './compose-file.js';
import { rehearseInContainers } from './docker/rehearse-in-containers.js';
import { LocalProcess } from './local-process.js';
import { freePortRange, Rehearsal } from './rehearsal.js';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * `npm run rehearse:staging`: what docker-compose.yml says, as processes of this machine on a real PostgreSQL and a real
 * Redis; then the tours; then an orderly stop. With `--docker` in containers, see there. Resolves with 0 when all of it went as it should.
 */
export const rehearseCommand: Command = async (args) => {
  const options = { docker: { type: 'boolean' }, 'stand-ins': { type: 'boolean' } } as const;
  const { values } = parseArgs({ args, options });
  if (values.docker) return await rehearseInContainers({ standIns: values['stand-ins'] === true }, print);
  const folder = mkdtempSync(join(os.tmpdir(), 'gatehouse-staging-'));
  const postgres = await startEmbeddedPostgres({ home: join(folder, 'postgres-home'), port: 0 });
  const redisPassword = randomBytes(24).toString('hex');
  let redis: LocalProcess | undefined;
  try {
    const redisPort = await freePort();
    redis = await startRedis(redisPort, redisPassword, folder);
    print(
      `ok    postgres                 on port ${postgres.port}, embedded\nok    redis                    on port ${redisPort}`,
    );
    return await rehearse(folder, postgres, { port: redisPort, password: redisPassword });
  } finally {
    await redis?.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

async function rehearse(
  folder: string,
  postgres: EmbeddedPostgres,
  redis: { port: number; password: string },
): Promise<number> {
  const database = new URL(postgres.url());
  const variables = await chooseVariables(database.password, redis.password);
  const file = readComposeFile(join(ROOT, 'docker-compose.yml'), variables);
  const rehearsal = new Rehearsal(file, folder, {
    'postgres:5432': `127.0.0.1:${postgres.port}`,
    'redis:6379': `127.0.0.1:${redis.port}`,
  });
  let tour = 1;
  try {
    await rehearsal.start((name, what) => print(`ok    ${name.padEnd(24)} ${what}`));
    const at = (name: string, port = 8080): string => `http://127.0.0.1:${rehearsal.port(name, port)}`;
    const tunnelGateway = {
      url: at('tunnel-gateway'),
      ports: { http: rehearsal.port('tunnel-edge', 8880), https: rehearsal.port('tunnel-edge', 8443) },
      certificateFolder: rehearsal.folderOf('tunnel-certificates'),
    };
    const password = variables.GATEHOUSE_ADMIN_PASSWORD;
    const places = {
      proxyGateway: at('proxy-gateway'),
      proxy: { user: { username: 'gatehouse', password: variables.PROXY_PASSWORD } },
      resourceSharing: at('resource-sharing'),
      tunnelGateway,
      password,
    };
    tour = await runTour(places, print);
  } finally {
    const codes = await rehearsal.stop();
    const bad = codes.filter(([, code]) => code !== 0);
    for (const [name, code] of bad) print(`FAIL  ${name} ended with ${code ?? 'SIGKILL'}`);
    if (bad.length > 0) tour = 1;
  }
  if (tour === 0) {
    print('\nStaging would come up: every process, every health check, the tours of all three services.');
    print(
      'Left out: the image, networks and limits of containers. npm run rehearse:staging -- --docker has them, too.',
    );
  }
  return tour;
}

async function chooseVariables(postgresPassword: string, redisPassword: string) {
  return {
    POSTGRES_PASSWORD: postgresPassword,
    REDIS_PASSWORD: redisPassword,
    GATEHOUSE_ADMIN_PASSWORD: randomBytes(12).toString('hex'),
    GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
    PROXY_PASSWORD: randomBytes(12).toString('hex'),
    PORT_RANGE: await freePortRange(),
  };
}

async function startRedis(port: number, password: string, folder: string): Promise<LocalProcess> {
  const own = join(OWN, 'peers/bin/redis-server');
  const program = existsSync(own) ? own : findInPath('redis-server', { path: process.env['PATH'] ?? '', except: '' });
  if (program === undefined) {
    throw new PlainFailure('the rehearsal needs a real Redis.', { advice: ['Bring one with: npm run peers'] });
  }
  const command = [program, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--requirepass', password];
  const redis = new LocalProcess({
    name: 'redis',
    command: [...command, '--maxmemory-policy', 'noeviction', '--dir', folder],
    environment: {},
    logFile: join(folder, 'redis.log'),
  });
  await redis.healthy(() => canConnect(port), 10_000);
  return redis;
}
