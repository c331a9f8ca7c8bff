import { loadSecretKeys, type SecretBox } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { certificateSecret, createKeyBox } from './key-box.js';

/** Seals what belongs to certificates: their keys and those of accounts. */
@Injectable()
export class CertificateBox {
  private box: SecretBox | null = null;

  constructor(private readonly settings: TunnelGatewaySettings) {}

  seal(text: string): string {
    return this.opened().seal(text);
  }

  /** @throws SecretBoxError with another GATEHOUSE_SECRET_KEY */
  open(sealed: string): string {
    return this.opened().open(sealed);
  }

  /** Not before it is needed: a worker that orders nothing does without the key. */
  private opened(): SecretBox {
    const { home, secretKey: envValue } = this.settings;
    this.box ??= createKeyBox(loadSecretKeys({ home, envValue }).map(certificateSecret));
    return this.box;
  }
}
