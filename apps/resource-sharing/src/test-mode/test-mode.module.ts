import { globalInterceptor } from '@gatehouse/platform';
import { Global, Module } from '@nestjs/common';
import { TestAccounts } from './test-accounts.js';
import { TestData } from './test-data.js';
import { TestModeInterceptor } from './test-mode.interceptor.js';

/** Calls with test keys (docs/decisions/0135-test-mode.md). */
@Global()
@Module({
  providers: [TestAccounts, TestData, globalInterceptor(TestModeInterceptor)],
  exports: [TestAccounts, TestData],
})
export class TestModeModule {}
