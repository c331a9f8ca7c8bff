import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { KERNEL_PORT, SERVICES } from '../supervisor/service-list.js';
import { platformHome } from '../supervisor/platform-settings.js';
import { runningState, type PlatformState } from '../supervisor/state-file.js';
import { table } from '../table.js';
import { ApiClient } from '../tour/api-client.js';
import { findPassword } from '../supervisor/running-platform.js';
import { Breach, type Attack } from './attack.js';
import { commonAttacks } from './common-attacks.js';
import { proxyAttacks } from './proxy-attacks.js';
import { siteAttacks } from './site-attacks.js';
import { tunnelAttacks } from './tunnel-attacks.js';

const FUZZERS = ['schemathesis.mjs', 'schemathesis-open-api.mjs', 'schemathesis-tunnel.mjs'];

/**
 * `npm run security [-- --no-fuzz]`: tries the attacks that `docs/security.md` promises to withstand, on the platform that runs in
 * this home. What they make is removed again. Then schemathesis, where it is installed, fuzzes each service from its description.
 */
export const securityCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { 'no-fuzz': { type: 'boolean' } } });
  const rows = [['attack', 'held', 'what was seen']];
  let failed = false;
  for (const attack of await attacksOn(process.env)) {
    const { ok, seen } = await tryOne(attack);
    failed ||= !ok;
    process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${attack.name}\n`);
    rows.push([attack.name, ok ? 'yes' : 'NO', seen]);
  }
  process.stdout.write(`\n${table(rows)}\n\n`);
  if (values['no-fuzz'] !== true) failed = !(await fuzz()) || failed;
  process.stdout.write(failed ? '\nSome attacks got through: see above.\n' : '\nEvery attack was refused.\n');
  return failed ? 1 : 0;
};

async function tryOne(attack: Attack): Promise<{ ok: boolean; seen: string }> {
  try {
    return { ok: true, seen: await attack.run() };
  } catch (error) {
    if (error instanceof Breach) return { ok: false, seen: error.message };
    return { ok: false, seen: `could not be tried: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function attacksOn(env: NodeJS.ProcessEnv): Promise<Attack[]> {
  const home = platformHome(env);
  const state = runningState(home);
  if (state === undefined) {
    throw new PlainFailure('no platform runs in this home.', {
      advice: [`home: ${home}`, 'Start one with: npm start'],
    });
  }
  const services = SERVICES.map(({ name }) => ({ name, url: urlOf(state, name) }));
  const [proxyGateway, resourceSharing, tunnelGateway] = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'].map(
    (name) => urlOf(state, name),
  ) as [string, string, string];
  const password = findPassword(env, home);
  const proxyApi = new ApiClient(`${proxyGateway}/api/v1`);
  await proxyApi.login(password);
  const tunnelApi = new ApiClient(`${tunnelGateway}/api/v1`);
  await tunnelApi.login(password, 'admin');
  const proxy = { host: '127.0.0.1', port: state.ports?.[KERNEL_PORT.variable] ?? KERNEL_PORT.defaultPort };
  const httpPort = state.ports?.['TUNNEL_HTTP_PORT'] ?? null;
  return [
    ...proxyAttacks({
      api: proxyApi,
      base: proxyGateway,
      proxy,
      own: services.map(listenerOf),
      stores: storesOf(state),
    }),
    ...tunnelAttacks({ api: tunnelApi, base: tunnelGateway, password, httpPort }),
    ...siteAttacks({ url: resourceSharing, password }),
    ...commonAttacks(services, home),
  ];
}

function urlOf(state: PlatformState, service: string): string {
  const url = state.services.find(({ name }) => name === service)?.url;
  if (url === undefined) throw new PlainFailure(`${service} does not run in this home.`);
  return url;
}

function listenerOf({ name, url }: { name: string; url: string }): { name: string; host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { name, host: hostname, port: Number(port) };
}

function storesOf({ databaseUrl }: PlatformState): URL[] {
  return [databaseUrl, process.env['REDIS_URL']].flatMap((url) => (url ? [new URL(url)] : []));
}

/** Each script starts a service of its own. True: nothing was found, or nothing could be tried, which is printed. */
async function fuzz(): Promise<boolean> {
  if (spawnSync('schemathesis', ['--version'], { stdio: 'ignore' }).status !== 0) {
    process.stdout.write('Left out: schemathesis is not installed (pip install schemathesis).\n');
    return true;
  }
  for (const script of FUZZERS) {
    process.stdout.write(`\nschemathesis: ${script}\n`);
    const code = await runScript(join(ROOT, 'test', 'conformance', script));
    if (code !== 0) return false;
  }
  return true;
}

function runScript(script: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, '--examples', '5'], { stdio: 'inherit', cwd: ROOT });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
