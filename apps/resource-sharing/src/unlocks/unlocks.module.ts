import { Module } from '@nestjs/common';
import { SharesModule } from '../shares/shares.module.js';
import { UnlockHistory } from './unlock-history.js';
import { UnlockBatches } from './unlock-batches.js';
import { UnlocksController } from './unlocks.controller.js';
import { Unlocks } from './unlocks.service.js';

@Module({
  imports: [SharesModule],
  controllers: [UnlocksController],
  providers: [Unlocks, UnlockBatches, UnlockHistory],
  exports: [Unlocks, UnlockHistory],
})
export class UnlocksModule {}
