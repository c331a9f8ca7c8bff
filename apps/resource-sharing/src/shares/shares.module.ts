import { Module } from '@nestjs/common';
import { TitlesModule } from '../titles/titles.module.js';
import { WeeklyFreeModule } from '../weekly-free/weekly-free.module.js';
import { ResourcesController } from './resources.controller.js';
import { ShareCounters } from './share-counters.js';
import { ShareOffer } from './share-offer.js';
import { ShareReader } from './share-reader.js';
import { ShareRelations } from './share-relations.js';
import { ShareWriter } from './share-writer.js';
import { SharesController } from './shares.controller.js';

@Module({
  imports: [TitlesModule, WeeklyFreeModule],
  controllers: [ResourcesController, SharesController],
  providers: [ShareCounters, ShareOffer, ShareReader, ShareRelations, ShareWriter],
  exports: [ShareOffer, ShareReader, ShareWriter],
})
export class SharesModule {}
