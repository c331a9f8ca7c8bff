import { StartError } from '@gatehouse/platform';
import { KernelConfigError } from '@gatehouse/proxy-kernel';

/**
 * The error that must keep the service from starting, after the first configuration failed: the port from the
 * environment is taken. A port from the settings is no reason, since users need the API to change it.
 */
export function explainFirstFailure(failure: unknown, portIsFromSettings: boolean): StartError | null {
  if (portIsFromSettings || !(failure instanceof KernelConfigError) || !failure.path.startsWith('listeners'))
    return null;
  const what = failure.message.slice(`${failure.path}: `.length);
  return new StartError(`PROXY_KERNEL_PORT: ${what}; set PROXY_KERNEL_PORT to a free port`, { cause: failure });
}
