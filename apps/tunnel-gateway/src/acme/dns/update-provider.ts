import { randomInt } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { ByteReader } from '@gatehouse/net';
import type { DnsProvider } from './dns-provider.js';
import { checkAnswer, signedUpdate, type TsigKey, type TxtUpdate } from './dns-update.js';

const TIMEOUT_MS = 10_000;

export interface UpdateProviderOptions {
  server: { host: string; port: number };
  /** In which records may be changed. */
  zones: readonly string[];
  key: TsigKey;
}

/** A name server that accepts signed updates (RFC 2136), over TCP. */
export class UpdateProvider implements DnsProvider {
  private readonly options: UpdateProviderOptions;

  constructor(options: UpdateProviderOptions) {
    this.options = options;
  }

  async add(name: string, value: string, signal: AbortSignal): Promise<(signal: AbortSignal) => Promise<void>> {
    const zone = this.zoneOf(name);
    await this.send({ zone, name, value, action: 'add' }, signal);
    return (later) => this.send({ zone, name, value, action: 'remove' }, later);
  }

  private zoneOf(name: string): string {
    const zones = this.options.zones.filter((zone) => name === zone || name.endsWith(`.${zone}`));
    const [longest] = zones.toSorted((one, other) => other.length - one.length);
    if (longest === undefined) throw new Error(`${name} is in none of the zones of ACME_DNS_ZONES`);
    return longest;
  }

  private async send(update: TxtUpdate, signal: AbortSignal): Promise<void> {
    const { server, key } = this.options;
    const signed = signedUpdate(update, key, randomInt(0x10000), Math.floor(Date.now() / 1000));
    try {
      const answer = await exchange(server, signed.message, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
      checkAnswer(answer, signed, key, Math.floor(Date.now() / 1000));
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the name server ${server.host}: ${reason}`, { cause: error });
    }
  }
}

/** One question and its answer, each with its length in front (RFC 1035 4.2.2). */
async function exchange(
  server: UpdateProviderOptions['server'],
  message: Buffer,
  signal: AbortSignal,
): Promise<Buffer> {
  const socket: Socket = connect(server);
  const end = (): void => void socket.destroy(new Error('it did not answer in time'));
  signal.addEventListener('abort', end, { once: true });
  // Its reader reports it.
  socket.on('error', () => undefined);
  try {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    socket.write(Buffer.concat([length, message]));
    const reader = new ByteReader(socket, 0x10000);
    return await reader.read((await reader.read(2)).readUInt16BE());
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}
