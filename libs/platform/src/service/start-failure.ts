import { StartError } from '../errors/start-error.js';
import { SettingsError } from '../settings/settings-error.js';

export interface ListenTarget {
  readonly port: number;
  /** The variable of the port. */
  readonly portVariable: string;
  readonly address: string;
  /** The variable of the address. */
  readonly addressVariable?: string;
}

/** The error of a failed listen as one line that names the variable to change. */
export function explainListenError(error: unknown, target: ListenTarget): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const reason = LISTEN_REASONS.get(String(code));
  if (reason === undefined) return error;
  return new StartError(reason(target), { cause: error });
}

type Reason = (target: ListenTarget) => string;

const LISTEN_REASONS = new Map<string, Reason>([
  [
    'EADDRINUSE',
    ({ port, portVariable, address }) =>
      `${portVariable}: port ${port} on ${address} is in use by another program; set ${portVariable} to a free port`,
  ],
  [
    'EACCES',
    ({ port, portVariable }) =>
      `${portVariable}: this user may not listen on port ${port}; set ${portVariable} to a port above 1023`,
  ],
  [
    'EADDRNOTAVAIL',
    ({ address, addressVariable = 'BIND_ADDRESS' }) =>
      `${addressVariable}: ${address} is not an address of this machine`,
  ],
  ['EINVAL', ({ address, addressVariable = 'BIND_ADDRESS' }) => `${addressVariable}: ${address} cannot be listened on`],
]);

/** The output for a failed start: known problems without a stack, one line each. */
export function failureLines(error: unknown): string[] {
  if (error instanceof SettingsError) return error.message.split('\n');
  if (error instanceof StartError || isForOperators(error)) return [error.message];
  // The drivers' connection errors have an empty message; the real reasons are inside.
  if (error instanceof AggregateError && error.message === '') return error.errors.flatMap(failureLines);
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** Errors of lower libraries whose texts are written for operators. */
const FOR_OPERATORS = new Set([
  'DatabaseServerError',
  'EmbeddedPostgresError',
  'JobsUnavailableError',
  'NewerSchemaError',
  'SqlFilesError',
  'SecretBoxError',
  'SecretKeyError',
  'UnreadableSecretsError',
]);

function isForOperators(error: unknown): error is Error {
  return error instanceof Error && FOR_OPERATORS.has(error.name);
}
