import { createSecretBox, loadDataKey, loadSecretKeys } from '@gatehouse/persistence';
import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ResourceSharingSettings } from '../settings.js';
import { CredentialLookup } from './credential-lookup.js';
import { Grants } from './grants.service.js';
import { LastUse } from './last-use.js';
import { Revocations } from './revocations.js';
import { HASHER_PURPOSES, SecretHasher } from './secret-hasher.js';

async function createHasher(
  { home, secretKey: envValue }: ResourceSharingSettings,
  queries: DataSource,
): Promise<SecretHasher> {
  const secretKeys = loadSecretKeys({ home, envValue });
  const box = createSecretBox(secretKeys);
  const load = (name: keyof typeof HASHER_PURPOSES): Promise<Buffer> =>
    loadDataKey({ queries, box, secretKeys, name, purpose: HASHER_PURPOSES[name] });
  return new SecretHasher({ pepper: await load('pepper'), successorSalt: await load('successorSalt') });
}

/** Secrets of the open API, what they stand for, and notifications of their end; for every folder. */
@Global()
@Module({
  providers: [
    {
      provide: SecretHasher,
      inject: [ResourceSharingSettings, DataSource],
      useFactory: createHasher,
    },
    Revocations,
    CredentialLookup,
    LastUse,
    Grants,
  ],
  exports: [SecretHasher, Revocations, CredentialLookup, LastUse, Grants],
})
export class CredentialsModule {}
