import { loadSecretKey } from '@gatehouse/persistence';
import { Global, Module } from '@nestjs/common';
import { ResourceSharingSettings } from '../settings.js';
import { CredentialLookup } from './credential-lookup.js';
import { Grants } from './grants.service.js';
import { LastUse } from './last-use.js';
import { Revocations } from './revocations.js';
import { SecretHasher } from './secret-hasher.js';

/** Secrets of the open API, what they stand for, and word of their end; for every folder. */
@Global()
@Module({
  providers: [
    {
      provide: SecretHasher,
      inject: [ResourceSharingSettings],
      useFactory: ({ home, secretKey }: ResourceSharingSettings) =>
        new SecretHasher(loadSecretKey({ home, envValue: secretKey })),
    },
    Revocations,
    CredentialLookup,
    LastUse,
    Grants,
  ],
  exports: [SecretHasher, Revocations, CredentialLookup, LastUse, Grants],
})
export class CredentialsModule {}
