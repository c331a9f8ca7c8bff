import type { Endpoint } from '../wire/prelude.js';

/** An end of a socket in canonical text. The far end's address is unknown once it is gone. */
export function endpoint(address = '0.0.0.0', port = 0): Endpoint {
  // A zone names an interface of this machine; it means nothing elsewhere.
  return { address: address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, ''), port };
}
