import { createCipheriv, createDecipheriv } from 'node:crypto';
import { ReplayWindow } from './replay-window.js';

/** On our hardware it costs as much as with 128 bits, and two thirds of ChaCha20-Poly1305 (decision 0030). */
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const LINK_BYTES = 6;
const SEQUENCE_BYTES = 6;
const PACKET_HEADER_BYTES = LINK_BYTES + SEQUENCE_BYTES;
const TAG_BYTES = 16;
export const PACKET_OVERHEAD_BYTES = PACKET_HEADER_BYTES + TAG_BYTES;
/** Limits for one key, both for sealed packets and for forged ones: AES-GCM in RFC 9001 section 6.6. */
const MAX_SEALED = 2 ** 23;
const MAX_FORGED = 2 ** 52;
/** Used share of the limit at which the key is to be replaced. */
const SPENT = 0.75;

const KEY_LABEL = 'EXPERIMENTAL-gatehouse-datagrams';
const KEY_MATERIAL_BYTES = LINK_BYTES + 2 * KEY_BYTES;

export interface PacketKeys {
  /** Identifies the link in the header of its packets. */
  link: number;
  agent: Buffer;
  server: Buffer;
}

/** Both ends of a control connection derive the same keys from its TLS (RFC 5705). */
export function packetKeys(exportKeys: (bytes: number, label: string) => Buffer): PacketKeys {
  const material = exportKeys(KEY_MATERIAL_BYTES, KEY_LABEL);
  return {
    link: material.readUIntBE(0, LINK_BYTES),
    agent: material.subarray(LINK_BYTES, LINK_BYTES + KEY_BYTES),
    server: material.subarray(LINK_BYTES + KEY_BYTES),
  };
}

/** The link that a packet claims to belong to; null for an invalid packet. */
export function packetLink(packet: Buffer): number | null {
  return packet.length < PACKET_OVERHEAD_BYTES ? null : packet.readUIntBE(0, LINK_BYTES);
}

/** When a key is replaced. */
export interface KeyLimit {
  /** Absent: what AES-GCM allows. */
  most?: number | undefined;
  /** Called once, shortly before the limit. */
  onSpent?: () => void;
}

/** Seals packets of one direction: the header is the nonce. */
export class PacketSealer {
  private readonly link: number;
  private readonly key: Buffer;
  private readonly most: number;
  private readonly spentAt: number;
  private readonly onSpent: () => void;
  private sequence = 0;

  constructor(link: number, key: Buffer, { most = MAX_SEALED, onSpent }: KeyLimit = {}) {
    this.link = link;
    this.key = key;
    this.most = most;
    this.spentAt = Math.floor(most * SPENT);
    this.onSpent = () => onSpent?.();
  }

  /** Whether the key may seal no more packets. */
  get exhausted(): boolean {
    return this.sequence >= this.most;
  }

  /** The parts of a packet, in order; null when the key is used up. */
  seal(plain: Buffer): Buffer[] | null {
    if (this.sequence >= this.most) return null;
    if (this.sequence === this.spentAt) this.onSpent();
    const header = Buffer.allocUnsafe(PACKET_HEADER_BYTES);
    header.writeUIntBE(this.link, 0, LINK_BYTES);
    header.writeUIntBE(this.sequence++, LINK_BYTES, SEQUENCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, header);
    const sealed = cipher.update(plain);
    cipher.final();
    return [header, sealed, cipher.getAuthTag()];
  }
}

/** Opens packets of the other direction. */
export class PacketOpener {
  private readonly key: Buffer;
  private readonly most: number;
  private readonly spentAt: number;
  private readonly onSpent: () => void;
  private readonly window = new ReplayWindow();
  replayed = 0;
  forged = 0;

  constructor(key: Buffer, { most = MAX_FORGED, onSpent }: KeyLimit = {}) {
    this.key = key;
    this.most = most;
    this.spentAt = Math.ceil(most * SPENT);
    this.onSpent = () => onSpent?.();
  }

  /** Null for a packet that is a duplicate, too old or not made with the key, and after too many forged ones. */
  open(packet: Buffer): { plain: Buffer; newest: boolean } | null {
    if (this.forged >= this.most) return null;
    const sequence = packet.readUIntBE(LINK_BYTES, SEQUENCE_BYTES);
    if (!this.window.fresh(sequence)) {
      this.replayed += 1;
      return null;
    }
    const tagAt = packet.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, this.key, packet.subarray(0, PACKET_HEADER_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(packet.subarray(tagAt));
    const plain = decipher.update(packet.subarray(PACKET_HEADER_BYTES, tagAt));
    try {
      decipher.final();
    } catch {
      // Anybody can send to the port: that is no error here, and gets no answer.
      this.forged += 1;
      if (this.forged === this.spentAt) this.onSpent();
      return null;
    }
    return { plain, newest: this.window.accept(sequence) };
  }
}
