import { connect } from 'node:tls';
import type { ControlEndpoint } from './control-endpoint.js';
import { CONTROL_TLS, type ControlKey } from './control-key.js';
import { ControlLink, type ControlLinkLimits } from './control-link.js';

const CONNECT_MS = 5_000;

export interface ControlDial {
  endpoint: ControlEndpoint;
  key: ControlKey;
  signal?: AbortSignal;
  limits?: Partial<ControlLinkLimits>;
}

/** Makes one attempt to connect. @throws Error that says whether the endpoint does not answer or the keys differ. */
export function dialControl({ endpoint, key, signal, limits }: ControlDial): Promise<ControlLink> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...CONTROL_TLS,
      ...endpoint,
      pskCallback: () => key,
      // There is no certificate: the shared key is the identity.
      checkServerIdentity: () => undefined,
    });
    const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${CONNECT_MS} ms`)), CONNECT_MS);
    const onAbort = (): void => void socket.destroy(new Error('given up'));
    signal?.addEventListener('abort', onAbort, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    socket.on('error', (error) => {
      settle();
      reject(explained(error));
    });
    socket.once('close', () => {
      settle();
      reject(new Error('the connection was closed before it was proven'));
    });
    socket.once('secureConnect', () => {
      settle();
      resolve(new ControlLink(socket, limits));
    });
    if (signal?.aborted) onAbort();
  });
}

function explained(error: NodeJS.ErrnoException): Error {
  if (!error.code?.startsWith('ERR_SSL')) return error;
  return new Error('the other side has another secret key', { cause: error });
}
