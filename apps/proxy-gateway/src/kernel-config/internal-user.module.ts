import { Module } from '@nestjs/common';
import { InternalUser } from './internal-user.js';

/** The service's own user of the proxy. */
@Module({ providers: [InternalUser], exports: [InternalUser] })
export class InternalUserModule {}
