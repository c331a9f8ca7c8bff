import { Injectable } from '@nestjs/common';
import { ApplicationSecrets } from '../applications/application-secrets.service.js';
import { Applications } from '../applications/applications.service.js';
import { PersonalKeys } from '../applications/personal-keys.service.js';
import { Registration } from '../applications/registration.js';
import { CredentialLookup } from '../credentials/credential-lookup.js';
import { OPEN_SCOPES } from '../credentials/caller.js';

const NAME = 'Demo client';
const KEY_NAME = 'Demo key';
/** The address at which a program on the same machine waits for its code. */
export const DEMO_REDIRECT_URI = 'http://127.0.0.1:8090/callback';

/** The application of the demo data and the personal key of its user. */
@Injectable()
export class DemoClient {
  constructor(
    private readonly applications: Applications,
    private readonly registration: Registration,
    private readonly secrets: ApplicationSecrets,
    private readonly keys: PersonalKeys,
    private readonly lookup: CredentialLookup,
  ) {}

  /** A reviewed application with every scope; keeps `secret` if it is still valid, and creates a new one otherwise. */
  async ensure(ownerId: number, secret: string | undefined): Promise<{ clientId: string; secret: string }> {
    const present = (await this.applications.listOf(ownerId)).find(({ name }) => name === NAME);
    if (present !== undefined) {
      const { clientId } = present;
      if (secret !== undefined && (await this.holds(secret))) return { clientId, secret };
      return { clientId, secret: (await this.secrets.rotate(ownerId, clientId)).secret };
    }
    const { application, issued } = await this.registration.register(ownerId, {
      name: NAME,
      description: 'Shows what an application can do for its users.',
      kind: 'confidential',
      redirectUris: [DEMO_REDIRECT_URI],
      scopes: OPEN_SCOPES,
    });
    const { clientId } = application;
    await this.applications.review(ownerId, clientId, { authLevel: 'verified', status: 'approved' });
    return { clientId, secret: issued.secret };
  }

  /** Keeps `key` if it is still valid, and replaces it otherwise. */
  async ensureKey(userId: number, key: string | undefined): Promise<string> {
    if (key !== undefined && (await this.holds(key))) return key;
    for (const { id, name } of await this.keys.list(userId)) {
      if (name === KEY_NAME) await this.keys.revoke(userId, id);
    }
    return (await this.keys.create(userId, { name: KEY_NAME, scopes: OPEN_SCOPES })).secret;
  }

  private async holds(text: string): Promise<boolean> {
    const found = await this.lookup.key(text);
    return found !== null && found !== undefined && !found.revoked && (found.expiresAt ?? Infinity) > Date.now();
  }
}
