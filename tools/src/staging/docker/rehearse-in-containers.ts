import { randomBytes, randomInt } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { basename, join, relative } from 'node:path';
import { freePort } from '@gatehouse/net';
import { ROOT } from '../../../bootstrap/layout.mjs';
import { PlainFailure } from '../../../bootstrap/failure.mjs';
import { runTour } from '../../tour/tour-command.js';
import { freePortRange } from '../rehearsal.js';
import { rehearseBackups } from './backup-in-container.js';
import { findBaseImages } from './base-images.js';
import { docker, requireEngine } from './engine.js';
import { fetchThroughProxy } from './fetch-through-proxy.js';
import { textsInImage } from './image-secrets.js';
import { watchRestarts } from './restarts.js';
import type { BaseImages } from './stand-in-images.js';

const LARGEST_IMAGE_MB = 150;
const LEFT_BEHIND = new Set(['node_modules', 'dist', '.git', '.gatehouse']);
const PORTS = [
  'PROXY_GATEWAY_PORT',
  'RESOURCE_SHARING_PORT',
  'TUNNEL_GATEWAY_PORT',
  'PROXY_KERNEL_PORT',
  'TUNNEL_AGENT_PORT',
  'TUNNEL_HTTP_PORT',
  'TUNNEL_HTTPS_PORT',
] as const;
type Print = (line: string) => void;
type Variables = Record<string, string>;

/**
 * `npm run rehearse:staging -- --docker`: builds the Dockerfile, searches the image for the secrets of the `.env` beside it,
 * runs docker-compose.yml as a project of its own, tours all three services, restarts the containers of the APIs beside
 * running downloads, and restores what the container for backups wrote. Leaves nothing running; images that stand in for the official ones stay. Resolves with the exit code.
 */
export async function rehearseInContainers({ standIns }: { standIns: boolean }, print: Print): Promise<number> {
  const folder = mkdtempSync(join(os.tmpdir(), 'gatehouse-containers-'));
  const name = `gatehouse-rehearsal-${randomBytes(3).toString('hex')}`;
  let failed = true;
  try {
    await requireEngine(join(folder, 'engine.log'));
    const bases = await findBaseImages({ folder, standIns }, print);
    const variables = await chooseVariables(name, bases);
    await buildAndSearch(folder, variables, print);
    failed = (await runProject({ folder, name, variables }, print)) !== 0;
    return failed ? 1 : 0;
  } finally {
    if (failed) print(`\nWhat the commands printed is in ${folder}.`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

async function chooseVariables(name: string, bases: BaseImages): Promise<Variables> {
  const ports: Variables = {};
  for (const port of PORTS) ports[port] = String(await freePort());
  const block = randomInt(0, 125) * 2;
  return {
    ...ports,
    ...bases,
    POSTGRES_PASSWORD: randomBytes(24).toString('hex'),
    REDIS_PASSWORD: randomBytes(24).toString('hex'),
    GATEHOUSE_ADMIN_PASSWORD: randomBytes(12).toString('hex'),
    GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
    PROXY_PASSWORD: randomBytes(12).toString('hex'),
    PORT_RANGE: await freePortRange(),
    TUNNEL_PUBLIC_ADDRESS: `127.0.0.1:${ports['TUNNEL_AGENT_PORT']}`,
    CONSOLES_SUBNET: `10.232.${block}.0/24`,
    VISITORS_SUBNET: `10.232.${block + 1}.0/24`,
    GATEHOUSE_VERSION: name,
  };
}

/** @throws PlainFailure when a secret is in the image, or the image is too large. */
async function buildAndSearch(folder: string, variables: Variables, print: Print): Promise<void> {
  const logFile = join(folder, 'images.log');
  const image = `gatehouse:${variables['GATEHOUSE_VERSION']}`;
  const context = join(folder, 'context');
  cpSync(ROOT, context, { recursive: true, filter: (from) => from === ROOT || !LEFT_BEHIND.has(basename(from)) });
  const secrets = Object.entries(variables).filter(([name]) => /PASSWORD|SECRET/.test(name));
  const text = secrets.map(([name, value]) => `${name}=${value}\n`).join('');
  mkdirSync(join(context, '.gatehouse'));
  for (const file of ['.env', 'apps/proxy-gateway/.env', '.gatehouse/secret.key', 'libs/net/local.env']) {
    writeFileSync(join(context, file), text);
  }
  const base = variables['NODE_IMAGE'] ?? '';
  const args = ['build', '--build-arg', `NODE_IMAGE=${base}`];
  const started = performance.now();
  await docker([...args, '--tag', image, context], { logFile, environment: { DOCKER_BUILDKIT: '1' } });
  const size = async (name: string): Promise<number> =>
    Number(await docker(['image', 'inspect', '--format', '{{.Size}}', name], { logFile })) / 1e6;
  const above = Math.round((await size(image)) - (await size(base)));
  print(`ok    image                    built in ${seconds(started)}, ${above} MB above its base`);
  if (above > LARGEST_IMAGE_MB) throw new PlainFailure(`The image is more than ${LARGEST_IMAGE_MB} MB above its base.`);
  const values = secrets.map(([, value]) => value);
  const found = await textsInImage(image, values, folder);
  if (found.length > 0) throw new PlainFailure(`The image holds ${found.length} of the secrets in .env.`);
  print('ok    secrets                  none of .env in any layer');
  const agent = [...args, '--target', 'agent', '--tag', `gatehouse-agent:${variables['GATEHOUSE_VERSION']}`, context];
  await docker(agent, { logFile, environment: { DOCKER_BUILDKIT: '1' } });
  const help = await docker(['run', '--rm', '--read-only', agent.at(-2) ?? '', '--help'], { logFile });
  if (!help.includes('--server')) throw new PlainFailure('The image of the agent does not run it.');
  print('ok    agent                    its image runs, read-only');
}

interface Project {
  folder: string;
  name: string;
  variables: Variables;
}

async function runProject({ folder, name, variables }: Project, print: Print): Promise<number> {
  const logFile = join(folder, 'compose.log');
  const file = join(folder, 'variables');
  const lines = Object.entries(variables).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  const options = ['compose', '--project-name', name, '--project-directory', ROOT, '--env-file', file];
  const compose = (...args: string[]): Promise<string> => docker([...options, ...args], { logFile, cwd: ROOT });
  try {
    const started = performance.now();
    await compose('up', '--detach', '--wait', '--no-build');
    print(`ok    containers               all healthy in ${seconds(started)}`);
    const ids = (await compose('ps', '--quiet')).trim().split('\n');
    const format = '{{.Name}} {{.MemUsage}}';
    const memory = await docker(['stats', '--no-stream', '--format', format, ...ids], { logFile });
    for (const line of memory.trim().split('\n')) print(`      ${line.replace(`${name}-`, '')}`);
    const code = await visit(variables, compose, print);
    if (code !== 0) return code;
    const secretKey = variables['GATEHOUSE_SECRET_KEY'] ?? '';
    await rehearseBackups({ compose, folder, secretKey }, print);
    return 0;
  } catch (error) {
    await compose('logs', '--tail', '50').catch(() => undefined);
    throw error;
  } finally {
    await compose('--profile', 'backup', 'down', '--volumes', '--timeout', '40').catch(() =>
      print(`FAIL  ${name} could not be taken down`),
    );
    for (const image of ['gatehouse', 'gatehouse-agent']) {
      await docker(['image', 'rm', `${image}:${name}`], { logFile }).catch(() => undefined);
    }
  }
}

async function visit(
  variables: Variables,
  compose: (...args: string[]) => Promise<string>,
  print: Print,
): Promise<number> {
  const port = (name: string): number => Number(variables[name]);
  const at = (name: string): string => `http://127.0.0.1:${port(name)}`;
  const password = variables['GATEHOUSE_ADMIN_PASSWORD'] ?? '';
  const user = { username: 'gatehouse', password: variables['PROXY_PASSWORD'] ?? '' };
  const machineOn = (name: string): string => (variables[name] ?? '').replace(/0\/24$/, '1');
  const machine = machineOn('CONSOLES_SUBNET');
  const proxyPort = port('PROXY_KERNEL_PORT');
  const tour = await runTour(
    {
      proxyGateway: at('PROXY_GATEWAY_PORT'),
      proxy: { host: '127.0.0.1', port: proxyPort, user, machine },
      resourceSharing: at('RESOURCE_SHARING_PORT'),
      tunnelGateway: {
        url: at('TUNNEL_GATEWAY_PORT'),
        ports: { http: port('TUNNEL_HTTP_PORT'), https: port('TUNNEL_HTTPS_PORT') },
        certificateFolder: async (name, text) => {
          const write = `require('fs').writeFileSync('/var/lib/gatehouse-certificates/' + process.argv[1], process.argv[2], { mode: 0o600 })`;
          await compose('exec', '-T', 'tunnel-edge', 'node', '-e', write, relative('.', name), text);
        },
        listenAddress: '0.0.0.0',
        visitor: machineOn('VISITORS_SUBNET'),
      },
      password,
    },
    print,
  );
  if (tour !== 0) return tour;
  await fetchThroughProxy({ proxyGateway: at('PROXY_GATEWAY_PORT'), machine, password });
  print('\nok    subscription             fetched by the worker through the proxy');
  print('\nrestarts beside running downloads');
  const results = await watchRestarts({
    proxyGateway: at('PROXY_GATEWAY_PORT'),
    tunnelGateway: at('TUNNEL_GATEWAY_PORT'),
    proxy: { host: '127.0.0.1', port: proxyPort, user },
    machine,
    password,
    restart: async (service) => {
      await compose('up', '--detach', '--wait', '--no-build', '--no-deps', '--force-recreate', service);
    },
  });
  for (const { what, restarted, cut } of results)
    print(`      ${restarted} replaced: ${what} was ${cut ? 'cut' : 'not cut'}`);
  return results.some(({ cut }) => cut) ? 1 : 0;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(0)} s`;
}
