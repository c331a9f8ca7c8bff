// node libs/sharing-client/generate-python.mjs ADDRESS PYTHON [--check]
// Writes python/gatehouse_sharing/generated from the interface description of a running service; --check only compares.
// PYTHON has openapi-python-client and ruff, as that of `npm run peers -- --python`.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { argv, env, exit, stderr } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readDescription } from './description.mjs';

const [address, python, check] = argv.slice(2);
if (python === undefined) {
  stderr.write('usage: node libs/sharing-client/generate-python.mjs http://127.0.0.1:8081 python3 [--check]\n');
  exit(2);
}
const run = promisify(execFile);
const target = fileURLToPath(new URL('python/gatehouse_sharing/generated', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'gatehouse-python-'));
try {
  const made = await generated();
  if (check !== '--check') {
    await rm(target, { recursive: true, force: true });
    await rename(made, target).catch(() => run('cp', ['-r', made, target]));
  } else if (JSON.stringify(await filesOf(made)) !== JSON.stringify(await filesOf(target))) {
    const command = `node libs/sharing-client/generate-python.mjs ${address} ${python}`;
    stderr.write(`python/gatehouse_sharing/generated is not what the description says: ${command}\n`);
    exit(1);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function generated() {
  const description = join(folder, 'openapi.json');
  await writeFile(description, JSON.stringify(forPython(await readDescription(address))));
  const made = join(folder, 'generated');
  const options = ['generate', '--path', description, '--output-path', made, '--meta', 'none'];
  // The generator finds ruff, which formats its code, beside Python.
  const paths = [dirname((await run(python, ['-c', 'import sys; print(sys.executable)'])).stdout.trim()), env['PATH']];
  await run(python, ['-m', 'openapi_python_client', ...options], { env: { ...env, PATH: paths.join(':') } });
  return made;
}

/** Errors are exceptions of our client, which also knows how calls are authenticated. */
function forPython(description) {
  for (const methods of Object.values(description.paths)) {
    for (const operation of Object.values(methods)) {
      delete operation.responses.default;
      delete operation.security;
    }
  }
  delete description.components.schemas.Error;
  delete description.components.responses;
  for (const schema of Object.values(description.components.schemas)) withoutRules(schema);
  return description;
}

/** Rules between fields, which the service checks: the generator would make a class without fields of each. */
function withoutRules(schema) {
  if (schema.properties === undefined) return;
  for (const rule of ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else']) delete schema[rule];
}

async function filesOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.py'));
  const paths = names.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Promise.all(paths.map(async (path) => [path.slice(folder.length), await readFile(path, 'utf8')]));
}
