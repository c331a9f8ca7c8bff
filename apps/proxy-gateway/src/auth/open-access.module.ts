import { Module } from '@nestjs/common';
import { OpenAccess } from './open-access.js';

/** Whether the API stands open: asked by the guard, by the settings and by the check of Host. */
@Module({ providers: [OpenAccess], exports: [OpenAccess] })
export class OpenAccessModule {}
