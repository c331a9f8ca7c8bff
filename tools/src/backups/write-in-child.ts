import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { localized } from '../../bootstrap/language.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';

const TAIL_BYTES = 2_000;

/**
 * Writes one backup in a process of its own: `npm run backup` of this environment. What it needs of memory goes with it,
 * and what becomes of it leaves the platform alone.
 */
export function writeInChild(env: NodeJS.ProcessEnv): (file: string, signal: AbortSignal) => Promise<void> {
  return (file, signal) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [join(ROOT, 'tools', 'dist', 'cli.js'), 'backup', file], {
        env,
        cwd: ROOT,
        stdio: ['ignore', 'ignore', 'pipe'],
        signal,
      });
      let tail = '';
      child.stderr.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-TAIL_BYTES)));
      child.once('error', reject);
      child.once('close', (code) => {
        if (code === 0) resolve();
        else
          reject(
            new Error(tail.trim().split('\n').at(-1) ?? localized(`it ended with ${code}`, `进程退出（代码 ${code}）`)),
          );
      });
    });
}
