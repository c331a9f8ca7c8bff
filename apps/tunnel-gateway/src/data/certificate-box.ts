import { loadSecretKeys, type SecretBox } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { certificateSecret, createKeyBox, openKept } from '../common/key-box.js';

/** Seals private keys of certificates and accounts. */
@Injectable()
export class CertificateBox {
  private box: SecretBox | null = null;

  constructor(private readonly settings: TunnelGatewaySettings) {}

  /** `place`: where it is stored, see key-box.ts. It cannot be opened for another place. */
  seal(place: string, text: string): string {
    return this.opened().seal(text, place);
  }

  /** @throws SecretBoxError with another GATEHOUSE_SECRET_KEY, or at another place */
  open(place: string, sealed: string): string {
    return openKept(this.opened(), place, sealed);
  }

  /** Opened on demand: a worker that orders nothing does not need the key. */
  private opened(): SecretBox {
    const { home, secretKey: envValue } = this.settings;
    this.box ??= createKeyBox(loadSecretKeys({ home, envValue }).map(certificateSecret));
    return this.box;
  }
}
