import { Module } from '@nestjs/common';
import { TitlesModule } from '../titles/titles.module.js';
import { ResourcesController } from './resources.controller.js';
import { ShareCounters } from './share-counters.js';
import { ShareReader } from './share-reader.js';
import { ShareRelations } from './share-relations.js';
import { ShareWriter } from './share-writer.js';
import { SharesController } from './shares.controller.js';

@Module({
  imports: [TitlesModule],
  controllers: [ResourcesController, SharesController],
  providers: [ShareCounters, ShareReader, ShareRelations, ShareWriter],
  exports: [ShareCounters, ShareReader, ShareWriter],
})
export class SharesModule {}
