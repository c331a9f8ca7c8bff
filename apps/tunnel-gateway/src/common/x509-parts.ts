import { der } from '@gatehouse/tunnel-kernel';

export const SEQUENCE = 0x30;
export const SET = 0x31;
const OCTET_STRING = 0x04;
const BIT_STRING = 0x03;
const DNS_NAME = 0x82;

const SUBJECT_ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');
export const ECDSA_WITH_SHA256 = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'));

/** An extension (RFC 5280 4.1) from its object identifier and its value, both in DER. */
export function extension(id: Buffer, value: Buffer, critical = false): Buffer {
  return der(SEQUENCE, id, ...(critical ? [Buffer.from('0101ff', 'hex')] : []), der(OCTET_STRING, value));
}

/** The subject alternative name, an A-label. */
export function alternativeName(name: string): Buffer {
  return extension(SUBJECT_ALTERNATIVE_NAME, der(SEQUENCE, der(DNS_NAME, Buffer.from(name, 'ascii'))));
}

export function bitString(content: Buffer): Buffer {
  return der(BIT_STRING, Buffer.from([0]), content);
}
