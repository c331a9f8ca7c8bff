import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PeerResult } from './bring-peers.js';

const run = promisify(execFile);
const PROGRAM = 'rathole';
const VERSION = '0.5.0';
// Without TLS, which its crate takes from a library of the system, and without watching its configuration.
const FEATURES = 'server,client,noise';
const BUILD_LIMIT_MS = 30 * 60_000;

/**
 * The tunnel rathole, built in minutes from its crate: `npm run peers -- --rathole`. Its lock file is not used: it names
 * a crate (`time` 0.3.29) that today's Rust does not compile.
 */
export async function bringRathole(folder: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const file = join(folder, 'bin', PROGRAM);
  if (existsSync(file)) return { program: PROGRAM, state: 'found', detail: file };
  const workshop = join(folder, PROGRAM);
  try {
    onProgress(`building the crate ${PROGRAM} ${VERSION}, which takes minutes`);
    mkdirSync(join(folder, 'bin'), { recursive: true });
    const features = ['--no-default-features', '--features', FEATURES];
    await cargo(['install', PROGRAM, '--version', VERSION, '--root', workshop, ...features]);
    renameSync(join(workshop, 'bin', PROGRAM), file);
    return { program: PROGRAM, state: 'brought', detail: file };
  } catch (error) {
    return { program: PROGRAM, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

async function cargo(args: string[]): Promise<void> {
  try {
    await run('cargo', args, { timeout: BUILD_LIMIT_MS, maxBuffer: 16 * 1_048_576 });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      throw new Error('Rust is not installed: https://rustup.rs', { cause });
    }
    const text = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : String(cause);
    const line = text.split('\n').find((candidate) => candidate.startsWith('error'));
    throw new Error(`cargo ${args[0]}: ${line ?? text.trim().split('\n').at(-1) ?? ''}`, { cause });
  }
}
