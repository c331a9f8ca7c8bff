import { Module } from '@nestjs/common';
import { RuleList } from './rule-list.js';

/** The rules as others need them: the kernel's configuration, and refreshes. */
@Module({ providers: [RuleList], exports: [RuleList] })
export class RuleStorageModule {}
