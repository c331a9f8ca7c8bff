import { AppError, ErrorTranslator, StartError } from '@gatehouse/platform';
import { KernelConfigError } from '@gatehouse/proxy-kernel';
import { PROXY_ERROR_TEXTS } from '../error-texts.zh-CN.js';

/** The kernel is not running, died before it answered, or did not answer in time. */
export class KernelUnavailableError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KernelUnavailableError';
  }
}

/** The kernel's answer, or `otherwise` while it is down. */
export async function unlessDown<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.code === 'KERNEL_UNAVAILABLE') return otherwise;
    throw error;
  }
}

/**
 * The error that must keep the service from starting, after the first configuration failed: the port from the
 * environment is taken. A port from the settings is no reason, since users need the API to change it.
 */
export function explainFirstFailure(failure: unknown, portIsFromSettings: boolean): StartError | null {
  if (portIsFromSettings || !(failure instanceof KernelConfigError) || !failure.path.startsWith('listeners'))
    return null;
  const what = failure.message.slice(`${failure.path}: `.length);
  const chinese = new ErrorTranslator(PROXY_ERROR_TEXTS).text('zh-CN', what);
  return new StartError(
    `PROXY_KERNEL_PORT: ${what}; set PROXY_KERNEL_PORT to a free port`,
    `PROXY_KERNEL_PORT: ${chinese}；请将 PROXY_KERNEL_PORT 设为空闲端口`,
    { cause: failure },
  );
}

export function kernelUnavailable(cause?: unknown): AppError {
  return new AppError('KERNEL_UNAVAILABLE', 'The proxy kernel is not running; it is being restarted.', { cause });
}

/** An error of a kernel as the API reports it; other errors are not changed. @param kernel its name, if there are several. */
export function toAppError(error: unknown, kernel: string | null = null): unknown {
  if (error instanceof KernelUnavailableError) return kernelUnavailable(error);
  if (!(error instanceof KernelConfigError)) return error;
  const message =
    kernel === null
      ? `The configuration cannot run: ${error.message}`
      : `The configuration cannot run in kernel ${kernel}: ${error.message}`;
  return new AppError('UNPROCESSABLE', message, {
    details: [{ field: error.path, message: error.message }],
    cause: error,
  });
}
