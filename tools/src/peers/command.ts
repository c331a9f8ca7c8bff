import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { OWN } from '../../bootstrap/layout.mjs';
import { takeTurn } from '../../bootstrap/take-turn.mjs';
import { table } from '../table.js';
import { bringPeers } from './bring-peers.js';
import { bringGoPeers, bringHelm, bringNps } from './go-modules.js';
import { bringHydra } from './hydra.js';
import { bringKubernetesSchemas } from './kubernetes-schemas.js';
import { bringNodePeer } from './node-packages.js';
import { bringPythonPeer } from './python-packages.js';
import { bringRathole } from './rathole.js';
import { bringRuntimes } from './runtimes.js';
import { localized } from '../../bootstrap/language.mjs';

const OPTIONS = ['own', 'go', 'helm', 'nps', 'hydra', 'rathole', 'oidc-provider', 'lighthouse', 'python'] as const;

/** @throws TypeError for an option that does not exist */
function optionsOf(args: string[]): Partial<Record<(typeof OPTIONS)[number], boolean>> {
  const options = Object.fromEntries(OPTIONS.map((name) => [name, { type: 'boolean' as const }]));
  return parseArgs({ args, options }).values;
}

/** `npm run peers [-- --own] [--go] [--helm] [--nps] [--hydra] [--rathole] [--python] [--oidc-provider] [--lighthouse]`: finds or brings the real servers, prints a table, fails when one is missing. */
export async function peersCommand(args: string[]): Promise<number> {
  const wanted = optionsOf(args);
  const folder = join(OWN, 'peers');
  const lock = await takeTurn(join(OWN, 'peers.lock'), localized('brings peers', '准备对照程序'));
  const onProgress = (text: string): boolean => process.stderr.write(`${text}\n`);
  try {
    const results = await bringPeers({
      folder,
      path: process.env['PATH'] ?? '',
      ownOnly: wanted.own ?? false,
      onProgress,
    });
    results.push(...(await bringRuntimes(folder, onProgress)));
    if (wanted.go) results.push(...(await bringGoPeers(folder, onProgress)));
    if (wanted.helm) {
      results.push(await bringHelm(folder, onProgress), await bringKubernetesSchemas(folder, onProgress));
    }
    if (wanted.nps) results.push(...(await bringNps(folder, onProgress)));
    if (wanted.hydra) results.push(await bringHydra(folder, onProgress));
    if (wanted.rathole) results.push(await bringRathole(folder, onProgress));
    for (const name of ['oidc-provider', 'lighthouse'] as const) {
      if (wanted[name]) results.push(await bringNodePeer(name, folder, onProgress));
    }
    if (wanted.python) results.push(await bringPythonPeer(folder, onProgress));
    const rows = results.map(({ program, state, detail }) => [program, state, detail]);
    process.stdout.write(`${table([['peer', 'state', 'where, or why not'], ...rows])}\n`);
    process.stdout.write(`Programs for tests and benchmarks: ${join(folder, 'bin')}\n`);
    return results.some(({ state }) => state === 'missing') ? 1 : 0;
  } finally {
    lock.release();
  }
}
