import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CertificateBox } from '../data/certificate-box.js';
import { accountPlace } from '../common/key-box.js';
import { SERVICE_VERSION } from '../service-version.js';
import { TunnelGatewaySettings } from '../settings.js';
import { AcmeClient } from './acme-client.js';
import { createTransport, type AcmeTransport } from './acme-transport.js';

interface AccountRow {
  sealedKey: string;
  url: string | null;
  contact: string;
}

export interface OpenAccount {
  client: AcmeClient;
  key: KeyObject;
}

const READ = `
  SELECT sealed_key AS "sealedKey", url, contact FROM tunnel_gateway_ops.acme_accounts WHERE directory = $1`;
/** If two processes start at once, the first key is kept. */
const KEEP_FIRST = `
  INSERT INTO tunnel_gateway_ops.acme_accounts (directory, sealed_key) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
const REGISTERED = 'UPDATE tunnel_gateway_ops.acme_accounts SET url = $2, contact = $3 WHERE directory = $1';

/** The account with the configured authority; created on first use. */
@Injectable()
export class AcmeAccounts {
  private readonly transport: AcmeTransport;

  /** @throws StartError when the file of trusted authorities cannot be read. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly box: CertificateBox,
    private readonly settings: TunnelGatewaySettings,
  ) {
    this.transport = createTransport(
      `gatehouse-tunnel-gateway/${SERVICE_VERSION}`,
      readAuthorities(settings),
      settings.acmeDirectoryUrl,
    );
  }

  /** `renew`: the authority says that the account does not exist. @throws AcmeProblem */
  async open(signal: AbortSignal, renew = false): Promise<OpenAccount> {
    const { acmeDirectoryUrl: directory, acmeContact } = this.settings;
    const row = await this.row(directory);
    const key = createPrivateKey(this.box.open(accountPlace(directory), row.sealedKey));
    const contact = acmeContact.join(',');
    const known = renew || row.contact !== contact ? null : row.url;
    const { transport } = this;
    const client = new AcmeClient({ transport, directory, accountKey: key, account: known, signal });
    if (known === null) await this.register(client, row.url);
    return { client, key };
  }

  private async register(client: AcmeClient, before: string | null): Promise<void> {
    const { acmeDirectoryUrl: directory, acmeContact, acmeBinding } = this.settings;
    const contact = acmeContact.map((address) => `mailto:${address}`);
    const url = await client.register({ contact, binding: acmeBinding });
    // An existing account keeps its contact addresses.
    if (before === url) await client.send(url, { contact });
    await this.dataSource.query(REGISTERED, [directory, url, acmeContact.join(',')]);
  }

  private async row(directory: string): Promise<AccountRow> {
    const [known]: AccountRow[] = await this.dataSource.query(READ, [directory]);
    if (known) return known;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const sealed = this.box.seal(accountPlace(directory), pem);
    await this.dataSource.query(KEEP_FIRST, [directory, sealed]);
    const [made]: AccountRow[] = await this.dataSource.query(READ, [directory]);
    if (!made) throw new Error('The account was not kept.');
    return made;
  }
}

function readAuthorities({ acmeCaFile }: TunnelGatewaySettings): string | null {
  if (acmeCaFile === undefined) return null;
  try {
    return readFileSync(acmeCaFile, 'utf8');
  } catch (cause) {
    throw new StartError(`ACME_CA_FILE: ${acmeCaFile} cannot be read`, `ACME_CA_FILE: 无法读取 ${acmeCaFile}`, {
      cause,
    });
  }
}
