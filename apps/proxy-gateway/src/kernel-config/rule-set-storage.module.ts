import { Module } from '@nestjs/common';
import { RuleSetSource } from './rule-set-source.js';

/** The rule sets as the kernel's configuration needs them. */
@Module({ providers: [RuleSetSource], exports: [RuleSetSource] })
export class RuleSetStorageModule {}
