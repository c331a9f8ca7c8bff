import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeSocksAddress } from '@gatehouse/net';
import { decodeAddress } from '../socks/codec.js';
import { aeadMethod, freshSalt, isEmbeddedCipher, masterKey } from './cipher.js';
import { MAX_CHUNK, StreamOpener, StreamSealer, aeadFormat, openDatagram, sealDatagram } from './codec.js';

/**
 * Captured from Debian's shadowsocks-libev 3.3.5 with the password `foobar`: `hello`, and the datagram `datagram`, to
 * example.com:80.
 */
const CAPTURED = [
  {
    cipher: 'aes-128-gcm',
    stream:
      '666c207e2e41626dfb31eb8524dde4d4602f79ed674101b91367a52cab26aff632a670c4fe09afa9dfa7d262d6452f27632b9f66da19367afa516ff5c037bb05608f022bfd8596ff6c3ea4b43cb3c5cff34d52fb539dc32fb92fc7c32ad7b51d8e3a7cbaf57c3dc3',
    datagram:
      '9d6246cdb40e0f65a570b3055ba2160704ff1bb20fd827a74ad539502c60e2c4c6c5da3dec7dacbaca0efd5d8bbcfec4f7692816695c26',
  },
  {
    cipher: 'aes-192-gcm',
    stream:
      'c7de65ec244ce19f2524468f25a20b6e79669fe08bd0cd81a9fca560e98f162e8a96d4dae8ee67bdc60a0f3649f9bdb58ac7b50ac8f35f42ff21894f0749ca47a4b0c25e176d23d1af65f67c41aecf4b465212ba0a8ad55d32fc2af1ca33f10b054b3f243d46d443404260f326957882',
    datagram:
      'bb12ea0e16c8c8e4f5fc22125354c10550c25a43a65d2e3bcfe6fd76ddef3a5dff718b83a41ea3d67d4ad1edef85b546a85c30655d46b0afbeaf96945d491e',
  },
  {
    cipher: 'aes-256-gcm',
    stream:
      'a53423b69d81adc629622901d9e80af0efb8f0337cadf95881a72e7407b704d283141ad2ddae2b83541eebc0dca2f119c5b1cd05f7ae0fc602d439a46bf76c7c5402cb77752caf1ec6fc177cb5977a4811c9f11a10ebc587c1e181ca6e85f12d39e3b6991ddae0f546d5de8817393e408f25b6cfc012d527',
    datagram:
      '27020942a12c5ba170ca9314bf81b7792694e4a4f9a8f31cb4b5bdf22cdfc9f4c457c4a9ee581bfbd5204991623376beb030693dc21368439ac3477d46477cbfaea7e5f8d7fbf8',
  },
  {
    cipher: 'chacha20-ietf-poly1305',
    stream:
      '244164eee113e889746a7a663f853f7ce70e887033ee1805349bbaf71c181af9996a02c7d02e412c10f9b923f26aacd4fb59a18fc5601a30c0494918610cb44540b7101419082a7c26d00e6c7571242d2f51a67fb3d4bab973e5691b526c49d31fdef3b05fc6082f219dfa08d021af9eda70f246e22e106a',
    datagram:
      'b6c5e711a021a9dd373cd4f7f483aede149619c052df0aee9e87b531f7bb5518aaaa5cc4f1a56f349a45ff9a6a505ee94bacf77afe674a8d3f6526010a228934828682675945de',
  },
];

const keysOf = (cipher: string, password = 'foobar') => {
  const method = aeadMethod(cipher);
  return { method, master: masterKey(password, method.keyLength) };
};

/** Opens the bytes in pieces of the given sizes. */
function openInPieces(opener: StreamOpener, bytes: Buffer, sizes: () => number): Buffer {
  const plain: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = Math.max(1, sizes());
    // A copy that is wiped afterwards, since the opener must not keep its input.
    const piece = Buffer.from(bytes.subarray(at, at + size));
    opener.push(piece, (chunk) => plain.push(chunk));
    piece.fill(0);
    at += size;
  }
  return Buffer.concat(plain);
}

function sealAll(sealer: StreamSealer, plain: Buffer): Buffer {
  const pieces: Buffer[] = [];
  sealer.seal(plain, (piece) => pieces.push(piece));
  return Buffer.concat(pieces);
}

describe('keys', () => {
  it('come from the password as OpenSSL makes them', () => {
    const first = createHash('md5').update('foobar').digest();
    const second = createHash('md5').update(first).update('foobar').digest();
    expect(masterKey('foobar', 32).toString('hex')).toBe(Buffer.concat([first, second]).toString('hex'));
    // The test vector of the reference implementations.
    expect(masterKey('foobar', 32).toString('hex')).toBe(
      '3858f62230ac3c915f300c664312c63f568378529614d22ddb49237d2f60bfdf',
    );
    expect(masterKey('foobar', 24)).toHaveLength(24);
  });

  it('exist for no other cipher', () => {
    for (const name of ['rc4-md5', 'aes-128-cfb', '2022-blake3-aes-128-gcm', 'constructor', '']) {
      expect(isEmbeddedCipher(name)).toBe(false);
      expect(() => aeadMethod(name)).toThrow(RangeError);
    }
  });
});

describe.each(CAPTURED)('$cipher', ({ cipher, stream, datagram }) => {
  const { method, master } = keysOf(cipher);

  it("opens another implementation's stream, byte by byte", () => {
    const plain = openInPieces(new StreamOpener(aeadFormat(method, master)), Buffer.from(stream, 'hex'), () => 1);
    const address = decodeAddress(plain);
    expect(address?.target).toEqual({ host: 'example.com', port: 80 });
    expect(plain.subarray(address?.end).toString()).toBe('hello');
  });

  it("seals to another implementation's bytes", () => {
    const bytes = Buffer.from(stream, 'hex');
    const salt = bytes.subarray(0, method.saltLength);
    const plain = openInPieces(new StreamOpener(aeadFormat(method, master)), bytes, () => bytes.length);
    const sealer = new StreamSealer(aeadFormat(method, master), salt);
    const address = encodeSocksAddress({ host: 'example.com', port: 80 });
    // That implementation sealed address and payload together or separately; its first length says which.
    const together = Buffer.concat([salt, sealAll(sealer, plain)]);
    const apart = (): Buffer => {
      const other = new StreamSealer(aeadFormat(method, master), salt);
      return Buffer.concat([salt, sealAll(other, address), sealAll(other, Buffer.from('hello'))]);
    };
    expect([together.toString('hex'), apart().toString('hex')]).toContain(stream);
  });

  it("opens another implementation's datagram", () => {
    const plain = openDatagram(method, master, Buffer.from(datagram, 'hex'));
    const address = decodeAddress(plain);
    expect(address?.target).toEqual({ host: 'example.com', port: 80 });
    expect(plain.subarray(address?.end).toString()).toBe('datagram');
  });

  it("seals a datagram to another implementation's bytes", () => {
    const bytes = Buffer.from(datagram, 'hex');
    const parts = [encodeSocksAddress({ host: 'example.com', port: 80 }), Buffer.from('datagram')];
    expect(sealDatagram(method, master, bytes.subarray(0, method.saltLength), parts).toString('hex')).toBe(datagram);
  });

  it('opens what it sealed, cut anywhere', () => {
    const writes = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 5 });
    fc.assert(
      fc.property(writes, fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1 }), (sizes, cuts) => {
        const salt = randomBytes(method.saltLength);
        const sealer = new StreamSealer(aeadFormat(method, master), salt);
        const plain = sizes.map((size) => randomBytes(size));
        const sealed = Buffer.concat([salt, ...plain.map((bytes) => sealAll(sealer, bytes))]);
        const opener = new StreamOpener(aeadFormat(method, master));
        let turn = 0;
        const opened = openInPieces(opener, sealed, () => cuts[turn++ % cuts.length] ?? 1);
        expect(opened.equals(Buffer.concat(plain))).toBe(true);
        expect(opener.atBoundary).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('returns no byte of a chunk that was altered', () => {
    const salt = randomBytes(method.saltLength);
    const sealed = Buffer.concat([
      salt,
      sealAll(new StreamSealer(aeadFormat(method, master), salt), randomBytes(2000)),
    ]);
    for (let at = 0; at < sealed.length; at += 97) {
      const altered = Buffer.from(sealed);
      altered[at] = (altered[at] ?? 0) ^ 1;
      const given: Buffer[] = [];
      expect(() => new StreamOpener(aeadFormat(method, master)).push(altered, (chunk) => given.push(chunk))).toThrow(
        /not sealed/,
      );
      expect(given).toEqual([]);
    }
  });

  it('never uses a nonce twice', () => {
    const salt = Buffer.alloc(method.saltLength);
    const sealer = new StreamSealer(aeadFormat(method, master), salt);
    const plain = Buffer.alloc(10);
    const seen = new Set<string>();
    // Past 256 the counter carries into its second byte.
    for (let turn = 0; turn < 300; turn += 1) seen.add(sealAll(sealer, plain).toString('hex'));
    expect(seen.size).toBe(300);
  });

  it('seals in chunks of at most 0x3FFF bytes', () => {
    const sealer = new StreamSealer(aeadFormat(method, master), Buffer.alloc(method.saltLength));
    const overhead = (chunks: number): number => chunks * (2 + 16 + 16);
    expect(sealAll(sealer, Buffer.alloc(MAX_CHUNK)).length).toBe(MAX_CHUNK + overhead(1));
    expect(sealAll(sealer, Buffer.alloc(MAX_CHUNK + 1)).length).toBe(MAX_CHUNK + 1 + overhead(2));
    expect(sealAll(sealer, Buffer.alloc(65_536)).length).toBe(65_536 + overhead(5));
    expect(sealAll(sealer, Buffer.alloc(0)).length).toBe(0);
  });
});

describe('freshSalt', () => {
  it('gives each salt once, with the length of the cipher, also when the buffer is used up', () => {
    const lengths = ['aes-128-gcm', 'aes-192-gcm', 'aes-256-gcm'].map((name) => aeadMethod(name));
    const salts = Array.from({ length: 900 }, (_, index) => {
      const method = lengths[index % 3] ?? aeadMethod('aes-128-gcm');
      const salt = freshSalt(method);
      expect(salt.length).toBe(method.saltLength);
      return salt;
    });
    expect(new Set(salts.map((salt) => salt.toString('hex', 0, 16))).size).toBe(900);
    // Salts share no memory: writing to one must not change another.
    const [one, other] = [freshSalt(aeadMethod('aes-128-gcm')), freshSalt(aeadMethod('aes-128-gcm'))];
    const before = Buffer.from(other);
    one.fill(0);
    expect(other.equals(before)).toBe(true);
  });
});

describe('a datagram', () => {
  it('refuses datagrams that are too short or have another key', () => {
    const { method, master } = keysOf('aes-256-gcm');
    const sealed = sealDatagram(method, master, randomBytes(32), [Buffer.from('x')]);
    expect(() => openDatagram(method, keysOf('aes-256-gcm', 'other').master, sealed)).toThrow(/not sealed/);
    expect(() => openDatagram(method, master, sealed.subarray(0, 40))).toThrow(/short/);
    expect(() => openDatagram(method, master, Buffer.alloc(0))).toThrow(/short/);
  });
});
