import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PeerResult } from './bring-peers.js';
import { writeWrapper } from './wrapper.js';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 5 * 60_000;
const PROGRAM = 'python3-with-oauth-clients';

/** What the two OAuth clients and our own one with its generator need, version by version. */
const PACKAGES: readonly string[] = [
  'annotated-doc==0.0.7',
  'annotated-types==0.8.0',
  'anyio==4.16.0',
  'attrs==26.1.0',
  'h11==0.16.0',
  'httpcore==1.0.9',
  'httpx==0.28.1',
  'Jinja2==3.1.6',
  'markdown-it-py==4.3.0',
  'MarkupSafe==3.0.4',
  'mdurl==0.1.2',
  'openapi-python-client==0.29.1',
  'pydantic==2.14.4',
  'pydantic_core==2.50.5',
  'Pygments==2.21.0',
  'rich==15.0.0',
  'ruamel.yaml==0.19.1',
  'ruff==0.17.6',
  'shellingham==1.5.4',
  'typer==0.27.3',
  'typing-inspection==0.4.5',
  'typing_extensions==4.16.0',
  'Authlib==1.8.0',
  'joserfc==1.8.0',
  'cryptography==50.0.2',
  'cffi==2.1.1',
  'pycparser==3.12',
  'requests-oauthlib==2.0.0',
  'oauthlib==4.0.1',
  'requests==2.34.2',
  'certifi==2026.10.18',
  'charset-normalizer==3.5.2',
  'idna==3.20',
  'urllib3==2.8.0',
];

/** Python with Authlib, requests-oauthlib and what the Python client needs in a folder of their own: `npm run peers -- --python`. Nothing is compiled. */
export async function bringPythonPeer(folder: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const environment = join(folder, 'python');
  const python = join(environment, 'bin', 'python3');
  if (await works(python)) return { program: PROGRAM, state: 'found', detail: python };
  try {
    onProgress('bringing OAuth clients and openapi-python-client from PyPI');
    mkdirSync(folder, { recursive: true });
    rmSync(environment, { recursive: true, force: true });
    await execute('python3', ['-m', 'venv', environment]);
    const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--no-deps'];
    await execute(python, ['-m', 'pip', 'install', ...options, ...PACKAGES]);
    const detail = writeWrapper(join(folder, 'bin'), PROGRAM, python, { libraries: [] });
    return { program: PROGRAM, state: 'brought', detail };
  } catch (error) {
    rmSync(environment, { recursive: true, force: true });
    return { program: PROGRAM, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}

async function works(python: string): Promise<boolean> {
  return await run(python, ['-c', 'import authlib, requests_oauthlib, httpx, openapi_python_client']).then(
    () => true,
    () => false,
  );
}

async function execute(program: string, args: string[]): Promise<void> {
  try {
    await run(program, args, { timeout: INSTALL_LIMIT_MS });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      throw new Error('python3 is not installed: https://www.python.org/downloads', { cause });
    }
    const text = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : String(cause);
    throw new Error(`${program}: ${text.trim().split('\n').at(-1) ?? ''}`, { cause });
  }
}
