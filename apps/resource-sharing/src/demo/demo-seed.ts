import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ResourceSharingSettings } from '../settings.js';
import { DemoAccounts, DEVELOPER, VIEWER } from './demo-accounts.js';
import { DemoClient, DEMO_REDIRECT_URI } from './demo-client.js';
import { DemoLibrary, type DemoShareLine } from './demo-library.js';

/** What the demonstration needs to be used; only this file and its first print ever hold the secrets. */
export interface DemoSecrets {
  readonly developerPassword: string;
  readonly viewerPassword: string;
  readonly applicationSecret: string;
  readonly personalKey: string;
}

const FILE = 'demo.json';
const NAMES = ['developerPassword', 'viewerPassword', 'applicationSecret', 'personalKey'] as const;

/** Everything that a person needs to try the service out. */
export interface Demo {
  readonly publicUrl: string;
  readonly developer: string;
  readonly viewer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly secrets: DemoSecrets;
  readonly shares: readonly DemoShareLine[];
}

/** Fills an empty service with an application, two users, titles and shares. */
@Injectable()
export class DemoSeed {
  constructor(
    private readonly dataSource: DataSource,
    private readonly accounts: DemoAccounts,
    private readonly client: DemoClient,
    private readonly library: DemoLibrary,
    private readonly settings: ResourceSharingSettings,
  ) {}

  isSeeded(): Promise<boolean> {
    return this.accounts.exist();
  }

  /**
   * Creates what is missing and keeps the rest: valid secrets stay in `demo.json` of the home.
   * @throws CONFLICT for a service that is in use, unless `force` is set.
   */
  async seed({ force = false }: { force?: boolean } = {}): Promise<Demo> {
    if (!force && this.settings.secureCookies && (await this.accounts.othersExist())) {
      throw new AppError(
        'CONFLICT',
        'This service already has members: npm run seed:demo -- --force adds the demo data anyway',
      );
    }
    // One at a time, in all processes.
    return this.dataSource.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtext('resource-sharing demo'))`);
      return this.build(readDemoFile(this.settings.home));
    });
  }

  private async build(kept: Partial<DemoSecrets>): Promise<Demo> {
    const developer = await this.accounts.ensure(DEVELOPER, kept.developerPassword);
    const viewer = await this.accounts.ensure(VIEWER, kept.viewerPassword);
    await this.accounts.favour(viewer.id);
    const { clientId, secret } = await this.client.ensure(developer.id, kept.applicationSecret);
    const personalKey = await this.client.ensureKey(viewer.id, kept.personalKey);
    const shares = await this.library.ensure(developer.id);
    const secrets = {
      developerPassword: developer.password,
      viewerPassword: viewer.password,
      applicationSecret: secret,
      personalKey,
    };
    writeDemoFile(this.settings.home, secrets);
    return {
      publicUrl: this.settings.publicUrl.replace(/\/+$/, ''),
      developer: DEVELOPER,
      viewer: VIEWER,
      clientId,
      redirectUri: DEMO_REDIRECT_URI,
      secrets,
      shares,
    };
  }
}

/** What an earlier run stored; empty if the file is damaged. */
function readDemoFile(home: string): Partial<DemoSecrets> {
  let stored: unknown;
  try {
    stored = JSON.parse(readFileSync(join(home, FILE), 'utf8'));
  } catch {
    // Absent or damaged: new secrets take the place of what it held.
    return {};
  }
  if (typeof stored !== 'object' || stored === null) return {};
  const given = stored as Record<string, unknown>;
  return Object.fromEntries(NAMES.flatMap((name) => (typeof given[name] === 'string' ? [[name, given[name]]] : [])));
}

function writeDemoFile(home: string, secrets: DemoSecrets): void {
  writeFileSync(join(home, FILE), `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
}
