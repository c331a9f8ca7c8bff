import { Module } from '@nestjs/common';
import { IdentityKeys } from './identity-keys.js';

/** Keys of OpenID Connect, for the process that signs and the one that replaces them. */
@Module({ providers: [IdentityKeys], exports: [IdentityKeys] })
export class IdentityModule {}
