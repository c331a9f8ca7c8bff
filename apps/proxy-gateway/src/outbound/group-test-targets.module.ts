import { Module } from '@nestjs/common';
import { KernelConfigModule } from '../kernel-config/kernel-config.module.js';
import { GroupTestTargets } from './group-test-targets.js';

/** For measuring nodes, in the service and in its workers. */
@Module({ imports: [KernelConfigModule], providers: [GroupTestTargets], exports: [GroupTestTargets] })
export class GroupTestTargetsModule {}
