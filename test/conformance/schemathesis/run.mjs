// What the runs of schemathesis with the three services have in common.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const NOT_APPLICABLE = ['ensure_resource_availability', 'object_level_authorization'];
/** For services whose answers a JSON Schema cannot describe, such as 400 for a node that cannot be read. */
export const REFUSES_VALID = 'positive_data_acceptance';
const CONFIG = fileURLToPath(new URL('accepted-statuses.toml', import.meta.url));

/** `program`, `examples`, `only` (the name of a credential), and what follows `--`: options for schemathesis itself. */
export function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      program: { type: 'string', default: 'schemathesis' },
      examples: { type: 'string', default: '50' },
      only: { type: 'string' },
    },
    allowPositionals: true,
  });
  return { ...values, positionals };
}

/**
 * One run; resolves to the exit code. `description`: address of the interface description; `headers`: the credentials;
 * `options`: more of schemathesis; `env`: more of its environment, for hooks; `leftOut`: checks that do not apply.
 */
export async function runSchemathesis(
  given,
  { name, description, folder, headers = {}, options = {}, env = {}, leftOut = [] },
) {
  // All checks run where none is named; --checks would set aside what the configuration says of single operations.
  const all = {
    '--exclude-checks': [...NOT_APPLICABLE, ...leftOut].join(','),
    '--max-examples': given.examples,
    // Before Python 3.11.8 and 3.12.2, two threads that parse at once may end in "AST constructor recursion depth mismatch".
    '--workers': '1',
    '--request-timeout': '30',
    '--wait-for-schema': '60',
    '--generation-database': 'none',
    '--generation-with-security-parameters': 'false',
    '--suppress-health-check': 'all',
    '--warnings': 'off',
    ...options,
  };
  const args = ['--config-file', CONFIG, 'run', description, '--no-color', '--continue-on-failure'];
  for (const option of Object.entries(all)) args.push(...option);
  for (const [header, value] of Object.entries(headers)) args.push('--header', `${header}: ${value}`);
  args.push(...given.positionals);
  process.stdout.write(`\n=== with ${name} credentials\n`);
  const child = spawn(given.program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: folder,
    env: { ...process.env, ...env },
  });
  const [code] = await once(child, 'exit');
  process.stdout.write(`schemathesis with ${name} credentials ended with ${code}\n`);
  return code;
}
