import { Module } from '@nestjs/common';
import { RuleList } from './rule-list.js';

/** The list of rules, for the kernel's configuration and for refreshes. */
@Module({ providers: [RuleList], exports: [RuleList] })
export class RuleStorageModule {}
