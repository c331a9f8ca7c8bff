import { bilingual, BilingualError, type Bilingual, type Language } from '@gatehouse/i18n';
import { SecretBoxError, type SecretBoxFailure } from '@gatehouse/net';
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
  if (error instanceof SecretBoxError) return [SECRET_BOX_TEXTS[error.reason][language]];
  // The drivers' connection errors have an empty message; the real reasons are inside.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.flatMap((each) => failureLines(each, language));
  }
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** `net` imports nothing, so its errors have no text in Chinese. */
const SECRET_BOX_TEXTS: Readonly<Record<SecretBoxFailure, Bilingual>> = {
  'not-sealed': bilingual('This is not a sealed text.', '这不是加密文本。'),
  'not-openable': bilingual(
    'The sealed text was made with another GATEHOUSE_SECRET_KEY, or for another place, or was changed.',
    '该加密文本使用了另一个 GATEHOUSE_SECRET_KEY、属于另一处，或已被改动。',
  ),
};
