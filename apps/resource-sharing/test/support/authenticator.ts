const STEP_MS = 30_000;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** An authenticator app (RFC 6238 with the defaults of such apps), written apart from the service and on another API. */
export class Authenticator {
  private readonly secret: Uint8Array<ArrayBuffer>;
  private readonly digits: number;

  constructor(secret: Uint8Array<ArrayBuffer>, digits = 6) {
    this.secret = secret;
    this.digits = digits;
  }

  /** With what a person types, or what the QR code says. */
  static from(keyOrUri: string): Authenticator {
    const key = keyOrUri.startsWith('otpauth:') ? (new URL(keyOrUri).searchParams.get('secret') ?? '') : keyOrUri;
    const bits = key
      .replaceAll(' ', '')
      .split('')
      .map((symbol) => ALPHABET.indexOf(symbol).toString(2).padStart(5, '0'));
    const octets = bits.join('').match(/.{8}/g) ?? [];
    return new Authenticator(Uint8Array.from(octets, (octet) => Number.parseInt(octet, 2)));
  }

  /** The code that the app shows, `steps` times thirty seconds from now. */
  code(steps = 0): Promise<string> {
    return this.codeAt(Date.now() + steps * STEP_MS);
  }

  async codeAt(ms: number): Promise<string> {
    const counter = new Uint8Array(8);
    new DataView(counter.buffer).setBigUint64(0, BigInt(Math.floor(ms / STEP_MS)));
    const algorithm = { name: 'HMAC', hash: 'SHA-1' };
    const key = await crypto.subtle.importKey('raw', this.secret, algorithm, false, ['sign']);
    const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter));
    const truncated = mac.getUint32(mac.getUint8(19) % 16) % 0x80_00_00_00;
    return String(truncated).slice(-this.digits).padStart(this.digits, '0');
  }
}
