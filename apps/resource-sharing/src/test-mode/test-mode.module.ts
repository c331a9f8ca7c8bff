import { Global, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { TestAccounts } from './test-accounts.js';
import { TestData } from './test-data.js';
import { TestModeInterceptor } from './test-mode.interceptor.js';

/** Calls with test keys (docs/decisions/0135-test-mode.md). */
@Global()
@Module({
  providers: [TestAccounts, TestData, { provide: APP_INTERCEPTOR, useClass: TestModeInterceptor }],
  exports: [TestAccounts, TestData],
})
export class TestModeModule {}
