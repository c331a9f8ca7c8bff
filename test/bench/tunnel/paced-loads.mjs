// Loads at a given pace, and the 99th percentile that requests wait for their answers, in milliseconds.
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { requirePeer } from '../processes.mjs';
import { quantile } from '../table.mjs';

const run = promisify(execFile);
const PACER = fileURLToPath(new URL('pacer.mjs', import.meta.url));
/** Where the pacer itself sends later than this, or less than it should, nothing is known of who is asked. */
const LATEST_MS = 2;

/** Requests evenly spaced over the connections; NaN where they cannot be made so fast. */
export async function evenP99({ port, h2, rate, connections, seconds }) {
  const args = [h2 ? 'h2' : 'h1', port, connections, rate, seconds].map(String);
  const { stdout } = await run(process.execPath, ['--max-semi-space-size=64', PACER, ...args]);
  const paced = JSON.parse(stdout);
  process.stderr.write(`  even pace: ${stdout}`);
  return paced.late99 > LATEST_MS || paced.rate < 0.98 * rate ? Number.NaN : paced.p99;
}

/**
 * As h2load keeps a pace: every 10 ms all connections ask in the same moment for what is due since the last time, each for
 * the next when it has an answer. What waits in h2load does not count.
 */
export async function burstP99({ port, h2, rate, connections, seconds, folder }) {
  const log = path.join(folder, 'requests.log');
  rmSync(log, { force: true });
  const args = h2 ? ['-m16', `https://127.0.0.1:${port}/`] : ['--h1', `http://127.0.0.1:${port}/`];
  const each = String(Math.max(1, Math.round(rate / connections)));
  await run(requirePeer('h2load'), [
    `-c${connections}`,
    '-t1',
    `-D${seconds}`,
    `--log-file=${log}`,
    '--rps',
    each,
    ...args,
  ]);
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  return (
    quantile(
      lines.map((line) => Number(line.split('\t')[2])),
      0.99,
    ) / 1000
  );
}
