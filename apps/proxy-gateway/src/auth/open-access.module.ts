import { Module } from '@nestjs/common';
import { OpenAccess } from './open-access.js';

/** Says whether the API works without login: for the guard, the settings and the check of the Host header. */
@Module({ providers: [OpenAccess], exports: [OpenAccess] })
export class OpenAccessModule {}
