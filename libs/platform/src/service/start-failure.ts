import { bilingual, BilingualError, type Bilingual, type Language } from '@gatehouse/i18n';
import { StartError } from '../errors/start-error.js';

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
  const text = reason(target);
  return new StartError(text.en, text['zh-CN'], { cause: error });
}

type Reason = (target: ListenTarget) => Bilingual;

const LISTEN_REASONS = new Map<string, Reason>([
  [
    'EADDRINUSE',
    ({ port, portVariable, address }) =>
      bilingual(
        `${portVariable}: port ${port} on ${address} is in use by another program; set ${portVariable} to a free port`,
        `${portVariable}: ${address} 的端口 ${port} 已被其他程序占用；请将 ${portVariable} 设为空闲端口`,
      ),
  ],
  [
    'EACCES',
    ({ port, portVariable }) =>
      bilingual(
        `${portVariable}: this user may not listen on port ${port}; set ${portVariable} to a port above 1023`,
        `${portVariable}: 当前用户无权监听端口 ${port}；请将 ${portVariable} 设为大于 1023 的端口`,
      ),
  ],
  [
    'EADDRNOTAVAIL',
    ({ address, addressVariable = 'BIND_ADDRESS' }) =>
      bilingual(
        `${addressVariable}: ${address} is not an address of this machine`,
        `${addressVariable}: ${address} 不是本机的地址`,
      ),
  ],
  [
    'EINVAL',
    ({ address, addressVariable = 'BIND_ADDRESS' }) =>
      bilingual(`${addressVariable}: ${address} cannot be listened on`, `${addressVariable}: 无法监听 ${address}`),
  ],
]);

/** The output for a failed start: known problems without a stack, one line each, in the language of the terminal. */
export function failureLines(error: unknown, language: Language): string[] {
  if (error instanceof BilingualError) return error.text[language].split('\n');
  if (isForOperators(error)) return [error.message];
  // The drivers' connection errors have an empty message; the real reasons are inside.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.flatMap((each) => failureLines(each, language));
  }
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** Errors of lower libraries whose texts are written for operators. */
const FOR_OPERATORS = new Set(['SecretBoxError', 'UnreadableSecretsError']);

function isForOperators(error: unknown): error is Error {
  return error instanceof Error && FOR_OPERATORS.has(error.name);
}
