import { createPublicKey, sign, type KeyObject } from 'node:crypto';
import { der } from '@gatehouse/tunnel-kernel';
import { alternativeName, bitString, ECDSA_WITH_SHA256, SEQUENCE, SET } from '../common/x509-parts.js';

const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex');

/** A request for a certificate (PKCS #10, RFC 2986) of one name, in DER, signed with its P-256 key; the subject is empty. */
export function certificateRequest(name: string, key: KeyObject): Buffer {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const extensions = der(SET, der(SEQUENCE, alternativeName(name)));
  const attributes = der(0xa0, der(SEQUENCE, EXTENSION_REQUEST, extensions));
  const body = der(SEQUENCE, der(0x02, Buffer.from([0])), der(SEQUENCE), spki, attributes);
  return der(SEQUENCE, body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, key)));
}
