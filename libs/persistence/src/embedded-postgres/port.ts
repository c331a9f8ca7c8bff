import { bilingual } from '@gatehouse/i18n';
import { freePort, listenOnce } from '@gatehouse/net';
import { EmbeddedPostgresError } from './errors.js';

/**
 * The port to listen on. A fixed one must be free (PORT_TAKEN names the variable that sets it); otherwise the
 * `preferred` one when it is free, else any free one.
 */
export async function choosePort(fixed: number, preferred: number | undefined, variable: string): Promise<number> {
  if (fixed !== 0) {
    if (await isFree(fixed)) return fixed;
    throw portTaken(fixed, variable);
  }
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  return freePort();
}

export function portTaken(port: number, variable: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'PORT_TAKEN',
    bilingual(
      `Port ${port} for the embedded PostgreSQL is taken by another program: set ${variable} to a free port.`,
      `内置 PostgreSQL 的端口 ${port} 已被其他程序占用：请将 ${variable} 设为空闲端口。`,
    ),
  );
}

async function isFree(port: number): Promise<boolean> {
  try {
    return (await listenOnce(port, '127.0.0.1')) === port;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE' || code === 'EACCES') return false;
    throw error;
  }
}
