import { StartError } from '@gatehouse/platform';
import { KernelConfigError } from '@gatehouse/proxy-kernel';

/**
 * Whether the service must not start with what went wrong at the first configuration: the port of the environment is
 * taken. A port that people set in the settings does not stop it: they need the API to set another.
 */
export function explainFirstFailure(failure: unknown, portIsFromSettings: boolean): StartError | null {
  if (portIsFromSettings || !(failure instanceof KernelConfigError) || !failure.path.startsWith('listeners'))
    return null;
  const what = failure.message.slice(`${failure.path}: `.length);
  return new StartError(`PROXY_KERNEL_PORT: ${what}; set PROXY_KERNEL_PORT to a free port`, { cause: failure });
}
