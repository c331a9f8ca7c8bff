import { loadSecretKeys, type SecretBox } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { certificateSecret, createKeyBox, openKept } from '../common/key-box.js';

/** Seals what belongs to certificates: their keys and those of accounts. */
@Injectable()
export class CertificateBox {
  private box: SecretBox | null = null;

  constructor(private readonly settings: TunnelGatewaySettings) {}

  /** `place`: where it is kept, see key-box.ts. It opens nowhere else. */
  seal(place: string, text: string): string {
    return this.opened().seal(text, place);
  }

  /** @throws SecretBoxError with another GATEHOUSE_SECRET_KEY, or at another place */
  open(place: string, sealed: string): string {
    return openKept(this.opened(), place, sealed);
  }

  /** Not before it is needed: a worker that orders nothing does without the key. */
  private opened(): SecretBox {
    const { home, secretKey: envValue } = this.settings;
    this.box ??= createKeyBox(loadSecretKeys({ home, envValue }).map(certificateSecret));
    return this.box;
  }
}
