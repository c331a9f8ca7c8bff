import { loadSecretKey } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { certificateSecret, KeyBox } from './key-box.js';

/** Seals what belongs to certificates: their keys and those of accounts. */
@Injectable()
export class CertificateBox extends KeyBox {
  constructor({ home, secretKey }: TunnelGatewaySettings) {
    super(certificateSecret(loadSecretKey({ home, envValue: secretKey })));
  }
}
