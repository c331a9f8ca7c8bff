import { join } from 'node:path';
import { OWN } from '../../bootstrap/layout.mjs';
import { takeTurn } from '../../bootstrap/take-turn.mjs';
import { table } from '../table.js';
import { bringPeers } from './bring-peers.js';
import { bringGoPeers, bringNps } from './go-modules.js';
import { bringHydra } from './hydra.js';
import { bringNodePeer } from './node-packages.js';
import { bringPythonPeer } from './python-packages.js';
import { bringRathole } from './rathole.js';
import { bringRuntimes } from './runtimes.js';

/** `npm run peers [-- --own] [--go] [--nps] [--hydra] [--rathole] [--python] [--oidc-provider]`: finds or brings the real servers, prints a table, fails when one is missing. */
export async function peersCommand(args: string[]): Promise<number> {
  const folder = join(OWN, 'peers');
  const lock = await takeTurn(join(OWN, 'peers.lock'), 'brings peers');
  const onProgress = (text: string): boolean => process.stderr.write(`${text}\n`);
  try {
    const results = await bringPeers({
      folder,
      path: process.env['PATH'] ?? '',
      ownOnly: args.includes('--own'),
      onProgress,
    });
    results.push(...(await bringRuntimes(folder, onProgress)));
    if (args.includes('--go')) results.push(...(await bringGoPeers(folder, onProgress)));
    if (args.includes('--nps')) results.push(...(await bringNps(folder, onProgress)));
    if (args.includes('--hydra')) results.push(await bringHydra(folder, onProgress));
    if (args.includes('--rathole')) results.push(await bringRathole(folder, onProgress));
    if (args.includes('--oidc-provider')) results.push(await bringNodePeer(folder, onProgress));
    if (args.includes('--python')) results.push(await bringPythonPeer(folder, onProgress));
    const rows = results.map(({ program, state, detail }) => [program, state, detail]);
    process.stdout.write(`${table([['peer', 'state', 'where, or why not'], ...rows])}\n`);
    process.stdout.write(`Programs for tests and benchmarks: ${join(folder, 'bin')}\n`);
    return results.some(({ state }) => state === 'missing') ? 1 : 0;
  } finally {
    lock.release();
  }
}
