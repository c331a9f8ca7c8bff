/** The streams of Shadowsocks 2022 (SIP022 3.1). */
import { randomInt } from 'node:crypto';
import { freshBytes } from '@gatehouse/net';
import { ShadowsocksError } from '../shadowsocks/chunk-key.js';
import { StreamOpener, StreamSealer, type StreamFormat } from '../shadowsocks/codec.js';
import type { ShadowsocksSession } from '../shadowsocks/stream.js';
import { streamIdentities, subkey, type Keys2022 } from './cipher.js';
import { checkTimestamp, timestamp } from './clock.js';

const MAX_CHUNK = 0xffff;
const MAX_PADDING = 900;
const TYPE_REQUEST = 0;
const TYPE_RESPONSE = 1;
const TIMESTAMP_BYTES = 8;
const LENGTH_BYTES = 2;

/** @param address the target's, encoded as in SOCKS. */
export function session2022(keys: Keys2022, address: Uint8Array): ShadowsocksSession {
  const salt = freshBytes(keys.method.keyLength);
  const format = formatOf(keys);
  const sealer = new StreamSealer(format, salt);
  return {
    sealer,
    opener: new StreamOpener({ ...format, firstHeader: responseHeader(salt) }),
    speaksFirst: true,
    begin: (payload) => {
      const fits = MAX_CHUNK - address.length - LENGTH_BYTES;
      const request = requestHeader(address, payload.subarray(0, fits));
      const fixed = Buffer.concat([Buffer.from([TYPE_REQUEST]), timestamp(), uint16(request.length)]);
      const sealed = [...sealer.sealOne(fixed), ...sealer.sealOne(request)];
      const opening = Buffer.concat([salt, streamIdentities(keys, salt), ...sealed]);
      return { opening, rest: payload.subarray(Math.min(fits, payload.length)) };
    },
  };
}

function formatOf({ method, user }: Keys2022): StreamFormat {
  const { algorithm, keyLength } = method;
  return { algorithm, saltLength: keyLength, maxChunk: MAX_CHUNK, key: (salt) => subkey(user, salt) };
}

/** `address ‖ padding length ‖ padding ‖ payload`: the length must not reveal a request without a payload. */
function requestHeader(address: Uint8Array, payload: Uint8Array): Buffer {
  const padding = payload.length > 0 ? Buffer.alloc(0) : freshBytes(1 + randomInt(MAX_PADDING));
  return Buffer.concat([address, uint16(padding.length), padding, payload]);
}

/** `type ‖ timestamp ‖ salt of the request ‖ length`: it must be recent and answer our request. */
function responseHeader(salt: Buffer): NonNullable<StreamFormat['firstHeader']> {
  const saltAt = 1 + TIMESTAMP_BYTES;
  return {
    bytes: saltAt + salt.length + LENGTH_BYTES,
    payloadLength: (header) => {
      if (header[0] !== TYPE_RESPONSE) throw new ShadowsocksError('the server did not send a response');
      checkTimestamp(header, 1);
      if (!header.subarray(saltAt, saltAt + salt.length).equals(salt)) {
        throw new ShadowsocksError('the server answers another request than ours');
      }
      return header.readUInt16BE(saltAt + salt.length);
    },
  };
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}
